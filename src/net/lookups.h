// Names to addresses, for connections made from here. The system's lookup blocks for as long as
// name servers keep silent, so it has threads of its own: a name that nobody answers for costs one
// of these its time, and no other work. Accounts share the threads and the places to wait: one may
// have more of them as long as no fewer stay free.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/task.h"
#include "net/listener.h"

namespace kyanite::net {

class Lookups {
 public:
  struct Limits {
    size_t threads = 8;                        // Names looked up at the same time.
    size_t waiting = 64;                       // Names that wait for a thread; more are refused.
    std::chrono::milliseconds longest{5'000};  // From the question to the answer.
  };
  enum class Error {
    kUnknown,  // There is no such name.
    kLate,     // No answer in time.
    kBusy,     // Too many names wait already.
  };
  using Addresses = Result<std::vector<Address>, Error>;
  using Resolve =
      std::function<Result<std::vector<Address>, std::string>(const std::string&, uint16_t)>;

  // `resolve` is called on the threads.
  explicit Lookups(Limits limits, Resolve resolve = net::resolve);
  // Nobody may wait any more. A thread that still waits for a name server is left to itself.
  ~Lookups();
  Lookups(const Lookups&) = delete;
  Lookups& operator=(const Lookups&) = delete;

  // The addresses of the name, with this port. Those who ask for one name at the same time share
  // one answer. Resumes the caller's executor.
  Task<Addresses> find(std::string host, uint16_t port, std::string account, int64_t now_ms);
  // Tells those whose time is over so. To be called again and again while anyone waits.
  void expire(int64_t now_ms);
  bool anyone_waits() const;

 private:
  struct State;
  const std::shared_ptr<State> state_;  // Shared with the threads.
};

}  // namespace kyanite::net
