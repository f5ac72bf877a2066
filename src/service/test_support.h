// A Call with everything around it, for tests of what services do with one.
#pragma once

#include <initializer_list>
#include <memory>
#include <string_view>
#include <utility>

#include "auth/account.h"
#include "service/call.h"
#include "store/locks.h"
#include "store/memory.h"

namespace kyanite::service {

// What all calls of a test share: an empty store, unless the test brings its own, and a clock that
// stands still.
struct TestContext {
  store::MemoryStore memory;
  store::KeyedLocks locks;
  Workers workers{1};
  auth::Accounts accounts;
  ManualClock clock{Time::from_unix_seconds(1'700'000'000)};
  Context context;

  TestContext() : TestContext(memory) {}
  explicit TestContext(store::Store& store) : context{store, locks, workers, clock, accounts} {}
};

struct TestCall {
  using Pairs = std::initializer_list<std::pair<std::string_view, std::string_view>>;

  // The headers must outlive the call; literals do.
  explicit TestCall(TestContext& around, std::string_view query = {}, Pairs headers = {})
      : call(request, around.context) {
    for (const auto& [name, value] : headers) request.headers.add(name, value);
    call.query = wire::Query::parse(query).value();
    call.now = around.clock.now();
    call.target.account = "account";
  }

  http::Request request;
  Call call;
};

}  // namespace kyanite::service
