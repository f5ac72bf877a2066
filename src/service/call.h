// One request on its way through a service: what was asked of whom, by whom, when, and what the
// service works with.
#pragma once

#include <string>
#include <string_view>

#include "auth/account.h"
#include "auth/authenticate.h"
#include "auth/caller.h"
#include "auth/target.h"
#include "base/clock.h"
#include "base/executor.h"
#include "http/message.h"
#include "service/endpoints.h"
#include "service/settings.h"
#include "store/occasion.h"
#include "wire/error.h"
#include "wire/query.h"
#include "wire/version.h"

namespace kyanite::http {
class Fetcher;
}

namespace kyanite::service {

struct Operation;

// Serves a request that came as a part of another one, as if it had come alone.
class PartServer {
 public:
  virtual ~PartServer() = default;
  // `version` is spoken by parts that name none.
  virtual Task<http::Reply> serve_part(http::Request& part, std::string_view version) = 0;
};
class Service;

// What all requests share. Lives as long as the server.
struct Context {
  store::Store& store;
  store::KeyedLocks&
      locks;         // Writers of one object wait in line here instead of conflicting at commit.
  Workers& workers;  // for hashing large bodies
  const Clock& clock;
  const auth::Accounts& accounts;
  SettingsTable settings = {};
  const auth::TokenRules* token_rules = nullptr;  // null: bearer tokens are refused.
  bool product_style_url = true;     // The account may be the first label of the host name.
  Endpoints endpoints = {};          // Where this server is reached; complete before it serves.
  http::Fetcher* fetcher = nullptr;  // For copies from other servers; null: they are refused.

  auth::Settings auth() const { return {&accounts, token_rules}; }
};

struct Call : store::Occasion {
  Call(http::Request& incoming, Context& shared)
      : Occasion(shared.store, shared.locks, shared.clock), request(incoming), context(shared) {}
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  // A call that another one makes inside the server, with a request of its own: a part of a
  // transaction, the source of a copy. It is of the same instant, ends by the same deadline, bears
  // the same id and speaks the same version to the same service. What it addresses, who makes it
  // and which operation it is are still to be found out. The outer call outlives it.
  static Call derived(http::Request& inner, const Call& outer) { return Call(inner, outer); }

  http::Request& request;
  Context& context;
  const Service* service = nullptr;  // The one that serves it.
  store::Hold hold;     // What this request reads stays readable until its last byte is sent.
  int64_t asked_s = 0;  // The seconds its client has asked for, 0 for none (service/deadline.h).

  std::string request_id;
  std::string version_text;  // as the client sent it; echoed
  wire::Version version;
  wire::Query query;
  auth::Target target;
  std::string endpoint;  // "http://host:port/account/", as the client addressed the service
  auth::Caller caller;
  const Operation* operation = nullptr;
  PartServer* parts = nullptr;  // What serves this request, for the parts of batches.

  const http::Headers& headers() const { return request.headers; }
  const AccountSettings& settings() const { return context.settings.of(target.account); }

 private:
  Call(http::Request& inner, const Call& outer)
      : Occasion(outer),
        request(inner),
        context(outer.context),
        service(outer.service),
        hold(outer.hold),
        request_id(outer.request_id),
        version_text(outer.version_text),
        version(outer.version) {
    target.service = outer.target.service;
  }
};

}  // namespace kyanite::service
