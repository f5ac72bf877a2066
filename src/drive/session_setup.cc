// SESSION_SETUP: one step of a logon, the first or a further one, of a new session or of one that
// is established and authenticates anew.
#include <algorithm>
#include <utility>

#include "base/log.h"
#include "drive/commands.h"
#include "drive/connection.h"
#include "drive/logon.h"
#include "smb/session.h"

namespace kyanite::drive {

namespace {
using smb::Status;

// A client that lost its connection names the session it had there: that one is over. Returns when
// what it had open is closed, or waits for its client.
Task<void> end_previous(Connection& connection, uint64_t id, const Session& session,
                        const std::string& account) {
  if (id == 0 || id == session.id()) co_return;
  const auto bond = connection.drive().sessions.find_previous(id);
  if (!bond || bond->account != account) co_return;
  Pending<bool> ended;
  const auto end = [](Connection& there, uint64_t which, Pending<bool>& done) -> Detached {
    if (auto found = there.find_session(which)) {
      co_await there.end_session(std::move(found), OpenEnd::kConnectionLost);
    } else {
      co_await there.session_ended(which);
    }
    done.set(true);
  };
  bond->home->post([&ended, &end, id](Connection* there) {
    if (there == nullptr) return ended.set(true);
    end(*there, id, ended);
  });
  co_await ended;
}

// Null if there is none, or no room for one. Who logs on is judged by the connection that is asked:
// by way of a further one only a session goes on that stands.
std::shared_ptr<Session> find_or_add(const Exchange& exchange) {
  const bool from_elsewhere = exchange.chain().origin.has_value();
  if (exchange.header.session_id == 0)
    return from_elsewhere ? nullptr : exchange.connection.add_session();
  auto session = exchange.connection.find_session(exchange.header.session_id);
  return session != nullptr && from_elsewhere && !session->established() ? nullptr : session;
}

// The end of a logon that failed: the peer learns of it late, the session is gone.
Task<Reply> logon_failed(Exchange& exchange, std::shared_ptr<Session> session, Status status) {
  co_await exchange.connection.end_session(std::move(session), OpenEnd::kLoggedOff, &exchange);
  co_await slow_down(exchange.connection);
  co_return refuse(exchange, status);
}

Reply logon_reply(const Exchange& exchange, const Session& session, Status status,
                  std::string_view token) {
  smb::SessionSetupReply body;
  body.token = token;
  if (status == Status::kSuccess && session.must_encrypt())
    body.flags = smb::session_flag::kEncryptData;
  Reply made = reply(exchange, body, status);
  made.header.session_id = session.id();
  return made;
}

// The logon succeeded: of a new session, or of one that was established before and goes on as it
// was.
Task<Reply> logged_on(Exchange& exchange, std::shared_ptr<Session> session,
                      const smb::SessionSetupRequest& request, const auth::LogonStep& step) {
  Connection& connection = exchange.connection;
  const auth::ntlm::Session& logon = *step.session;
  session->logon.reset();
  if (session->established()) {
    if (session->account() != logon.user) {
      log_refusal(connection, "of " + describe(logon) + " ", "the session is another account's");
      co_return co_await logon_failed(exchange, std::move(session), Status::kAccessDenied);
    }
    session->renew(logon.key_serial);
  } else {
    const auto terms = terms_of(connection, logon.user);
    if (!terms) {
      log_refusal(connection, "of " + describe(logon) + " ", terms.error());
      co_await connection.end_session(std::move(session), OpenEnd::kLoggedOff, &exchange);
      co_return refuse(exchange, Status::kAccessDenied);
    }
    Places& places = connection.drive().sessions_of_all;
    auto place = places.take(logon.user, connection.network());
    if (!place && request.previous_session != 0) {
      // It may have the place.
      co_await end_previous(connection, request.previous_session, *session, logon.user);
      place = places.take(logon.user, connection.network());
      // Meanwhile the session may have gone on otherwise.
      if (session->ended() || session->established())
        co_return refuse(exchange, Status::kUserSessionDeleted);
    }
    if (!place) {
      log_refusal(connection, "of " + describe(logon) + " ", "there are too many sessions");
      co_await connection.end_session(std::move(session), OpenEnd::kLoggedOff, &exchange);
      co_return refuse(exchange, Status::kInsufficientResources);
    }
    connection.session_established(
        session->id(),
        session->establish(logon, *terms, connection.agreement->client, std::move(place)));
    log_info("SMB logon of " + describe(logon) + " from " + std::string(connection.peer()) +
             ", SMB " + smb::name(connection.dialect()) +
             (terms->must_encrypt ? ", encrypted" : ""));
    co_await end_previous(connection, request.previous_session, *session, session->account());
  }
  Reply made = logon_reply(exchange, *session, Status::kSuccess, step.token);
  made.signed_by = exchange.channel();
  co_return made;
}
}  // namespace

Task<Reply> session_setup(Exchange& exchange) {
  Connection& connection = exchange.connection;
  if (!connection.agreement) co_return refuse(exchange, Status::kInvalidParameter);
  const auto request = smb::decode<smb::SessionSetupRequest>(exchange.message);
  if (!request) co_return refuse(exchange, request.error());
  if ((request->flags & smb::session_flag::kBinding) != 0)
    co_return co_await bind_session(exchange, *request);

  Drive& drive = connection.drive();
  auto session = find_or_add(exchange);
  if (session == nullptr) {
    co_return refuse(exchange, exchange.header.session_id == 0 ? Status::kInsufficientResources
                                                               : Status::kUserSessionDeleted);
  }
  exchange.session = session;
  if (session->logon == nullptr)
    session->logon = std::make_unique<auth::LogonAcceptor>(drive.logon);
  if (!session->established()) session->preauth.add(exchange.message);
  auth::LogonStep step = session->logon->step(request->token);
  if (step.verdict == auth::LogonStep::Verdict::kAccepted)
    co_return co_await logged_on(exchange, std::move(session), *request, step);
  if (step.verdict == auth::LogonStep::Verdict::kRefused) {
    log_refusal(connection, "", auth::describe(step.refusal));
    co_return co_await logon_failed(exchange, std::move(session), status_of(step.refusal));
  }
  Reply made = logon_reply(exchange, *session, Status::kMoreProcessingRequired, step.token);
  if (!session->established()) made.preauth = &session->preauth;
  co_return made;
}

}  // namespace kyanite::drive
