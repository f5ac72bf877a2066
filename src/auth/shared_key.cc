#include "auth/shared_key.h"

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "auth/failure.h"
#include "auth/header_order.h"
#include "auth/mac.h"
#include "auth/skew.h"
#include "base/bytes.h"
#include "wire/date.h"
#include "wire/version.h"

namespace kyanite::auth {

namespace {
// The standard headers that are signed by position, in the order of the specification.
enum Slot : size_t {
  kContentEncoding,
  kContentLanguage,
  kContentLength,
  kContentMd5,
  kContentType,
  kDate,
  kIfModifiedSince,
  kIfMatch,
  kIfNoneMatch,
  kIfUnmodifiedSince,
  kRange,
  kSlots,
};
constexpr std::array<std::string_view, kSlots> kSlotNames = {"content-encoding",
                                                             "content-language",
                                                             "content-length",
                                                             "content-md5",
                                                             "content-type",
                                                             "date",
                                                             "if-modified-since",
                                                             "if-match",
                                                             "if-none-match",
                                                             "if-unmodified-since",
                                                             "range"};

constexpr std::string_view kServicePrefix = "x-ms-";
constexpr size_t kSignatureChars = (kMacBytes + 2) / 3 * 4;

// The parts of a request that signatures cover. Kept per thread so that its vectors are allocated
// once.
struct Signed {
  enum class Order { kAsSent, kBytes, kSdk };

  std::array<std::string_view, kSlots> slots;
  std::vector<NumberedHeader> service_headers;  // x-ms-*
  Order order = Order::kAsSent;                 // of service_headers
  std::vector<const wire::Query::Parameter*> parameters;
  std::string_view service_date;  // x-ms-date
  wire::Version version;

  void collect(const http::Request& request, const wire::Query& query);
  void sort(Order wanted);
  std::string_view date() const { return service_date.empty() ? slots[kDate] : service_date; }
};

// Equality as far as headers go; inlined, because most comparisons end at the length.
bool is(std::string_view header, std::string_view lower_case_name) {
  return header.size() == lower_case_name.size() && equals_ignoring_case(header, lower_case_name);
}

bool is_service_header(std::string_view header) {
  // Most others differ in the first two characters.
  return header.size() > kServicePrefix.size() && (header[0] | 0x20) == 'x' && header[1] == '-' &&
         equals_ignoring_case(header.substr(0, kServicePrefix.size()), kServicePrefix);
}

void Signed::collect(const http::Request& request, const wire::Query& query) {
  slots.fill({});
  service_headers.clear();
  order = Order::kAsSent;
  parameters.clear();
  service_date = {};
  version = {};
  for (const auto& header : request.headers) {
    if (is_service_header(header.name)) {
      service_headers.push_back({header, service_headers.size()});
      if (is(header.name, "x-ms-date")) service_date = header.value;
      if (is(header.name, "x-ms-version")) {
        version = wire::Version::parse(header.value).value_or(wire::Version{});
      }
      continue;
    }
    for (size_t slot = 0; slot < kSlots; ++slot) {
      if (is(header.name, kSlotNames[slot])) {
        if (slots[slot].data() == nullptr) slots[slot] = header.value;
        break;
      }
    }
  }
  for (const auto& parameter : query) parameters.push_back(&parameter);
}

void Signed::sort(Order wanted) {
  if (order == wanted) return;
  std::sort(service_headers.begin(), service_headers.end(),
            wanted == Order::kSdk ? sdk_order : byte_order);
  order = wanted;
}

Signed& collected(const http::Request& request, const wire::Query& query) {
  thread_local Signed parts;
  parts.collect(request, query);
  return parts;
}

void append_line(std::string& out, std::string_view value) { out.append(value).push_back('\n'); }

void append_lower(std::string& out, std::string_view text) {
  const size_t from = out.size();
  out.append(text);
  for (size_t i = from; i < out.size(); ++i) {
    const char c = out[i];
    out[i] = static_cast<char>(c | (c >= 'A' && c <= 'Z' ? 0x20 : 0));
  }
}

bool is_blank(char c) { return c == ' ' || c == '\t'; }

void append_value(std::string& out, std::string_view value, bool fold) {
  if (!fold) {
    out.append(value);
    return;
  }
  for (size_t i = 0; i < value.size(); ++i) {
    if (!is_blank(value[i])) {
      out.push_back(value[i]);
    } else if (i > 0 && !is_blank(value[i - 1])) {
      out.push_back(' ');
    }
  }
}

// Each name once; the values of repeated headers are joined by commas, so that none goes unsigned.
void append_service_headers(std::string& out, Signed& parts, Dialect dialect) {
  parts.sort(dialect.sdk_header_order ? Signed::Order::kSdk : Signed::Order::kBytes);
  const auto& headers = parts.service_headers;
  for (size_t i = 0; i < headers.size(); ++i) {
    if (i > 0 && equals_ignoring_case(headers[i - 1].header.name, headers[i].header.name)) {
      out.back() = ',';
    } else {
      append_lower(out, headers[i].header.name);
      out.push_back(':');
    }
    append_value(out, headers[i].header.value, dialect.fold_blanks);
    out.push_back('\n');
  }
}

// "/account" and the path as sent; path-style addresses have the account in the path once more.
void append_path(std::string& out, const Target& target, Dialect dialect) {
  static constexpr std::string_view kSecondary = "-secondary";
  out.append("/").append(target.account);
  std::string_view path = target.raw_path;
  if (dialect.plain_secondary) {
    const size_t suffix = 1 + target.account.size();
    if (path.substr(std::min(suffix, path.size()), kSecondary.size()) == kSecondary) {
      out.append(path.substr(0, suffix));
      path.remove_prefix(suffix + kSecondary.size());
    }
  }
  out.append(path);
}

void append_parameters(std::string& out, Signed& parts) {
  auto& parameters = parts.parameters;
  std::sort(parameters.begin(), parameters.end(), [](const auto* a, const auto* b) {
    const int names = compare_ignoring_case(a->name, b->name);
    return names != 0 ? names < 0 : a->value < b->value;
  });
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (i > 0 && equals_ignoring_case(parameters[i - 1]->name, parameters[i]->name)) {
      out.push_back(',');
    } else {
      out.push_back('\n');
      append_lower(out, parameters[i]->name);
      out.push_back(':');
    }
    out.append(parameters[i]->value);
  }
}

void append_comp(std::string& out, const wire::Query& query) {
  if (auto comp = query.find("comp")) out.append("?comp=").append(*comp);
}

std::string_view signed_length(const Signed& parts, Dialect dialect) {
  const std::string_view length = parts.slots[kContentLength];
  const bool left_empty = parts.version >= wire::kEmptyContentLengthSigned || dialect.empty_length;
  return length == "0" && left_empty ? std::string_view() : length;
}

void write(Signed& parts, const http::Request& request, const wire::Query& query,
           const Target& target, bool lite, Dialect dialect, std::string& out) {
  out.clear();
  const bool table = target.service == wire::Service::kTable;
  const auto& slots = parts.slots;
  if (table) {
    if (!lite) {
      append_line(out, request.method);
      append_line(out, slots[kContentMd5]);
      append_line(out, slots[kContentType]);
    }
    append_line(out, parts.date());
    append_path(out, target, dialect);
    append_comp(out, query);
    return;
  }
  const std::string_view date = parts.service_date.empty() ? slots[kDate] : std::string_view();
  append_line(out, request.method);
  if (lite) {
    append_line(out, slots[kContentMd5]);
    append_line(out, slots[kContentType]);
    append_line(out, date);
  } else {
    append_line(out, slots[dialect.language_first ? kContentLanguage : kContentEncoding]);
    append_line(out, slots[dialect.language_first ? kContentEncoding : kContentLanguage]);
    append_line(out, signed_length(parts, dialect));
    append_line(out, slots[kContentMd5]);
    append_line(out, slots[kContentType]);
    append_line(out, date);
    for (size_t slot = kIfModifiedSince; slot < kSlots; ++slot) append_line(out, slots[slot]);
  }
  append_service_headers(out, parts, dialect);
  append_path(out, target, dialect);
  if (lite) {
    append_comp(out, query);
  } else {
    append_parameters(out, parts);
  }
}

bool has_blank_run(std::string_view value) {
  for (size_t i = 0; i < value.size(); ++i) {
    if (value[i] == '\t' || (i > 0 && value[i] == ' ' && value[i - 1] == ' ')) return true;
  }
  return false;
}

// Which dialects could make a difference for this request; the others are not tried.
Dialect differing_dialects(Signed& parts, const Target& target) {
  Dialect differs;
  parts.sort(Signed::Order::kBytes);
  const auto& headers = parts.service_headers;
  differs.sdk_header_order = !std::is_sorted(headers.begin(), headers.end(), sdk_order);
  differs.fold_blanks = std::any_of(headers.begin(), headers.end(), [](const auto& entry) {
    return has_blank_run(entry.header.value);
  });
  differs.language_first = parts.slots[kContentLanguage] != parts.slots[kContentEncoding];
  differs.plain_secondary = target.path_style && target.secondary;
  differs.empty_length = parts.slots[kContentLength] == "0" && parts.version == wire::Version{};
  return differs;
}

bool signed_by(const Account& account, std::string_view text, std::string_view signature) {
  bool matched = false;
  for (const auto& key : account.keys) {
    matched |= equals_constant_time(Mac::of(key, text).bytes(), signature);
    if (matched) break;
  }
  return matched;
}

// The dialects as sets of bits, the likeliest first: the JavaScript SDK's order of headers alone,
// then what others do in the order of bytes, then all that goes with the SDK's order. So headers
// are sorted three times at most.
constexpr unsigned kSdkOrderBit = 1;
constexpr unsigned kDialects = 32;
constexpr std::array<unsigned, kDialects - 1> make_choices() {
  std::array<unsigned, kDialects - 1> choices{};
  size_t count = 0;
  choices[count++] = kSdkOrderBit;
  for (const unsigned order : {0U, kSdkOrderBit}) {
    for (int bits = 1; bits <= 4; ++bits) {
      for (unsigned rest = 2; rest < kDialects; rest += 2) {
        if (std::popcount(rest) == bits) choices[count++] = rest | order;
      }
    }
  }
  return choices;
}

// Tries the dialects of other clients one by one and in combination. `buffer` holds the text
// without any.
bool matches_some_dialect(Signed& parts, const http::Request& request, const wire::Query& query,
                          const Target& target, bool lite, const Account& account,
                          std::string_view signature, std::string& buffer) {
  static constexpr auto kChoices = make_choices();
  const Dialect differs = differing_dialects(parts, target);
  const size_t cost = buffer.size() * account.keys.size();
  size_t budget = kMaxGuessedBytes;
  for (const unsigned choice : kChoices) {
    const Dialect dialect{(choice & kSdkOrderBit) != 0, (choice & 2) != 0, (choice & 4) != 0,
                          (choice & 8) != 0, (choice & 16) != 0};
    if ((dialect.sdk_header_order && !differs.sdk_header_order) ||
        (dialect.fold_blanks && !differs.fold_blanks) ||
        (dialect.language_first && !differs.language_first) ||
        (dialect.plain_secondary && !differs.plain_secondary) ||
        (dialect.empty_length && !differs.empty_length)) {
      continue;
    }
    if (cost > budget) return false;
    budget -= cost;
    write(parts, request, query, target, lite, dialect, buffer);
    if (signed_by(account, buffer, signature)) return true;
  }
  return false;
}

wire::Result<void> check_date(std::string_view date, Time now) {
  const auto sent = wire::parse_http_date(date);
  if (!sent) return authentication_failed("The Date header in the request is incorrect.");
  const int64_t skew = kAllowedSkewSeconds * kTicksPerSecond;
  if (now.ticks - sent->ticks > skew) {
    return authentication_failed("Request date header too old: '" + std::string(date) + "'");
  }
  if (sent->ticks - now.ticks > skew) {
    return authentication_failed("Request date header too far in the future: '" +
                                 std::string(date) + "'");
  }
  return {};
}

wire::Error mismatch(std::string_view signature, std::string_view text) {
  std::string detail = "The MAC signature found in the HTTP request '";
  detail.append(quoted_text(signature));
  detail.append(
      "' is not the same as any computed signature. Server used following string to sign: '");
  detail.append(quoted_text(text));
  detail.append("'.");
  return authentication_failed(detail);
}
}  // namespace

std::optional<SharedKeyCredential> SharedKeyCredential::parse(std::string_view authorization) {
  const size_t blank = authorization.find(' ');
  if (blank == std::string_view::npos) return {};
  SharedKeyCredential credential;
  credential.lite = equals_ignoring_case(authorization.substr(0, blank), "SharedKeyLite");
  if (!credential.lite && !equals_ignoring_case(authorization.substr(0, blank), "SharedKey"))
    return {};
  const std::string_view rest = trim(authorization.substr(blank + 1));
  const size_t colon = rest.find(':');
  if (colon == std::string_view::npos || colon == 0 || colon + 1 == rest.size()) return {};
  credential.account = rest.substr(0, colon);
  credential.signature = rest.substr(colon + 1);
  return credential;
}

void string_to_sign(const http::Request& request, const wire::Query& query, const Target& target,
                    bool lite, Dialect dialect, std::string& out) {
  write(collected(request, query), request, query, target, lite, dialect, out);
}

wire::Result<void> verify_shared_key(const SharedKeyCredential& credential,
                                     const http::Request& request, const wire::Query& query,
                                     const Target& target, const Account& account, Time now) {
  if (credential.account != account.name) {
    return authentication_failed(
        "Cannot find the claimed account when trying to GetProperties for the account " +
        quoted_text(credential.account) + ".");
  }
  Signed& parts = collected(request, query);
  if (auto timely = check_date(parts.date(), now); !timely) return timely.error();

  thread_local std::string buffer;
  write(parts, request, query, target, credential.lite, {}, buffer);
  // Base64 of a MAC has one length; nothing else is worth decoding or hashing.
  const auto signature = credential.signature.size() == kSignatureChars
                             ? unbase64(credential.signature)
                             : std::nullopt;
  const bool plausible = signature && signature->size() == kMacBytes;
  if (!plausible || (!signed_by(account, buffer, *signature) &&
                     !matches_some_dialect(parts, request, query, target, credential.lite, account,
                                           *signature, buffer))) {
    write(parts, request, query, target, credential.lite, {}, buffer);
    return mismatch(credential.signature, buffer);
  }
  return {};
}

}  // namespace kyanite::auth
