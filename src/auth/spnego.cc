#include "auth/spnego.h"

#include "auth/der.h"
#include "base/bytes.h"

namespace kyanite::auth {

namespace {
constexpr std::string_view kSpnego{"\x2b\x06\x01\x05\x05\x02", 6};
constexpr std::string_view kNtlmMechanism{"\x2b\x06\x01\x04\x01\x82\x37\x02\x02\x0a", 10};

enum class Negotiation : uint8_t {
  kCompleted = 0,
  kIncomplete = 1,
  kRejected = 2,
  kRequestCode = 3
};

struct InitialToken {
  std::string_view mechanisms;  // the sequence with its tag and length
  bool offers_ntlm = false;
  bool prefers_ntlm = false;  // it is the first
  std::string_view message;   // for the first mechanism; may be missing
};

bool read_mechanisms(std::string_view list, InitialToken& out) {
  der::Reader reader(list);
  for (bool first = true; !reader.done(); first = false) {
    const auto mechanism = reader.take(der::kIdentifier);
    if (!mechanism) return false;
    if (*mechanism != kNtlmMechanism) continue;
    out.offers_ntlm = true;
    out.prefers_ntlm |= first;
  }
  return true;
}

// The parts of a sequence, each of which may be missing but not out of order. Nothing unless the
// part holds a single value of this type.
bool read_part(der::Reader& reader, int number, uint8_t type, std::string_view& out) {
  if (!reader.next_is(der::part(number))) return true;
  const auto contents = reader.take({der::part(number), type});
  if (!contents) return false;
  out = *contents;
  return true;
}

// Parts that are of no interest, whatever is in them.
bool skip_part(der::Reader& reader, int number) {
  return !reader.next_is(der::part(number)) || reader.take(der::part(number));
}

Result<InitialToken, Refusal> parse_initial(std::string_view token) {
  der::Reader outer(token);
  const auto application = outer.take(der::kApplication0);
  if (!application || !outer.done()) return Refusal::kMalformed;
  der::Reader inside(*application);
  if (inside.take(der::kIdentifier) != kSpnego) return Refusal::kMalformed;
  const auto sequence = inside.take({der::part(0), der::kSequence});
  if (!sequence || !inside.done()) return Refusal::kMalformed;

  InitialToken read;
  der::Reader parts(*sequence);
  const auto mechanisms = parts.take(der::part(0));
  if (!mechanisms) return Refusal::kMalformed;
  if (mechanisms->size() > kMaxMechanismListBytes) return Refusal::kTooLong;
  read.mechanisms = *mechanisms;
  der::Reader list(*mechanisms);
  const auto identifiers = list.take(der::kSequence);
  if (!identifiers || !list.done() || !read_mechanisms(*identifiers, read)) {
    return Refusal::kMalformed;
  }
  // Wishes about the context, the token, and what is a hint from servers or a code from clients.
  if (!skip_part(parts, 1) || !read_part(parts, 2, der::kOctets, read.message) ||
      !skip_part(parts, 3) || !parts.done()) {
    return Refusal::kMalformed;
  }
  return read;
}

struct FurtherToken {
  std::string_view message;
  std::string_view code;  // over the list of mechanisms; may be missing
};

Result<FurtherToken, Refusal> parse_further(std::string_view token) {
  der::Reader outer(token);
  const auto sequence = outer.take({der::part(1), der::kSequence});
  if (!sequence || !outer.done()) return Refusal::kMalformed;
  FurtherToken read;
  der::Reader parts(*sequence);
  std::string_view state, mechanism;
  if (!read_part(parts, 0, der::kEnumerated, state) ||
      !read_part(parts, 1, der::kIdentifier, mechanism) ||
      !read_part(parts, 2, der::kOctets, read.message) ||
      !read_part(parts, 3, der::kOctets, read.code) || !parts.done()) {
    return Refusal::kMalformed;
  }
  if (state.size() > 1 || (!mechanism.empty() && mechanism != kNtlmMechanism)) {
    return Refusal::kMalformed;
  }
  if (!state.empty() && state.front() == static_cast<char>(Negotiation::kRejected)) {
    return Refusal::kBrokenOff;
  }
  return read;
}

std::string answer(Negotiation state, bool tell_mechanism, std::string_view message,
                   std::string_view code) {
  const char number = static_cast<char>(state);
  std::string parts = der::value(der::part(0), der::value(der::kEnumerated, {&number, 1}));
  if (tell_mechanism) {
    parts += der::value(der::part(1), der::value(der::kIdentifier, kNtlmMechanism));
  }
  if (!message.empty()) parts += der::value(der::part(2), der::value(der::kOctets, message));
  if (!code.empty()) parts += der::value(der::part(3), der::value(der::kOctets, code));
  return der::value(der::part(1), der::value(der::kSequence, parts));
}

LogonStep go_on(std::string token) {
  LogonStep step;
  step.verdict = LogonStep::Verdict::kContinue;
  step.token = std::move(token);
  return step;
}

LogonStep accept(ntlm::Session session, std::string token) {
  LogonStep step;
  step.verdict = LogonStep::Verdict::kAccepted;
  step.token = std::move(token);
  step.session = std::move(session);
  return step;
}
}  // namespace

std::string logon_hint() {
  constexpr uint8_t kGeneralString = 0x1b;
  const std::string mechanisms =
      der::value(der::kSequence, der::value(der::kIdentifier, kNtlmMechanism));
  const std::string hint =
      der::value(der::part(0), der::value(kGeneralString, "not_defined_in_RFC4178@please_ignore"));
  const std::string parts = der::value(der::part(0), mechanisms) +
                            der::value(der::part(3), der::value(der::kSequence, hint));
  return der::value(der::kApplication0,
                    der::value(der::kIdentifier, kSpnego) +
                        der::value(der::part(0), der::value(der::kSequence, parts)));
}

LogonStep LogonAcceptor::step(std::string_view token) {
  auto decided = decide(token);
  if (decided) {
    if (decided->verdict == LogonStep::Verdict::kAccepted) state_ = State::kDone;
    return std::move(*decided);
  }
  LogonStep refused;
  refused.refusal = decided.error();
  if (state_ == State::kWrapped) refused.token = answer(Negotiation::kRejected, false, {}, {});
  state_ = State::kDone;
  return refused;
}

Result<LogonStep, Refusal> LogonAcceptor::decide(std::string_view token) {
  if (token.size() > kMaxLogonTokenBytes) return Refusal::kTooLong;
  switch (state_) {
    case State::kBegin:
      return begin(token);
    case State::kRaw:
      return raw(token);
    case State::kWrapped:
      return wrapped(token);
    case State::kDone:
      break;
  }
  return Refusal::kOutOfOrder;
}

Result<LogonStep, Refusal> LogonAcceptor::begin(std::string_view token) {
  if (token.starts_with(ntlm::kMagic)) {
    state_ = State::kRaw;
    return raw(token);
  }
  state_ = State::kWrapped;
  const auto initial = parse_initial(token);
  if (!initial) return initial.error();
  if (!initial->offers_ntlm) return Refusal::kNoCommonMechanism;
  mechanisms_ = initial->mechanisms;
  code_required_ = !initial->prefers_ntlm;
  if (initial->prefers_ntlm && !initial->message.empty()) return challenge(initial->message);
  // The message, if there is one, is for another mechanism. The client begins anew with NTLM.
  mechanism_told_ = true;
  return go_on(
      answer(code_required_ ? Negotiation::kRequestCode : Negotiation::kIncomplete, true, {}, {}));
}

Result<LogonStep, Refusal> LogonAcceptor::raw(std::string_view message) {
  if (ntlm_.challenged()) {
    auto session = ntlm_.finish(message);
    if (!session) return session.error();
    return accept(std::move(*session), {});
  }
  auto challenge = ntlm_.challenge(message);
  if (!challenge) return challenge.error();
  return go_on(std::move(*challenge));
}

Result<LogonStep, Refusal> LogonAcceptor::wrapped(std::string_view token) {
  const auto further = parse_further(token);
  if (!further) return further.error();
  if (ntlm_.challenged()) return finish(further->message, further->code);
  return challenge(further->message);
}

Result<LogonStep, Refusal> LogonAcceptor::challenge(std::string_view negotiate) {
  const auto message = ntlm_.challenge(negotiate);
  if (!message) return message.error();
  const bool tell = !mechanism_told_;
  mechanism_told_ = true;
  return go_on(answer(Negotiation::kIncomplete, tell, *message, {}));
}

Result<LogonStep, Refusal> LogonAcceptor::finish(std::string_view authenticate,
                                                 std::string_view code) {
  auto session = ntlm_.finish(authenticate);
  if (!session) return session.error();
  std::string own_code;
  if (!code.empty()) {
    if (!(session->flags & ntlm::kExtendedSessionSecurity)) return Refusal::kWrongMechanismListCode;
    const auto expected = ntlm::signature(ntlm::Side::kClient, *session, mechanisms_);
    if (!equals_constant_time(expected, code)) return Refusal::kWrongMechanismListCode;
    own_code = ntlm::signature(ntlm::Side::kServer, *session, mechanisms_);
  } else if (code_required_) {
    return Refusal::kNoMechanismListCode;
  }
  return accept(std::move(*session), answer(Negotiation::kCompleted, false, {}, own_code));
}

}  // namespace kyanite::auth
