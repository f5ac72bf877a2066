#include "net/lookups.h"

#include <pthread.h>

#include <algorithm>
#include <deque>
#include <list>
#include <map>
#include <thread>
#include <utility>

#include "base/check.h"
#include "base/executor.h"
#include "base/mutex.h"

namespace kyanite::net {

namespace {
// One who asked. Lives in the coroutine that waits.
struct Asker {
  uint16_t port;
  std::string host;
  std::string account;
  int64_t deadline_ms;
  Pending<Lookups::Addresses> found;
};

// One name, with all who asked for it.
struct Question {
  std::string host;
  std::list<Asker*> askers;
  bool asked = false;  // A thread has it.
};
using QuestionPtr = std::shared_ptr<Question>;

Lookups::Addresses with_port(Lookups::Addresses found, uint16_t port) {
  if (!found) return found;
  for (Address& address : *found) address.set_port(port);
  return found;
}

// Whether somebody who has `held` of `limit` things, of which `used` are taken, may have one more:
// the first if there is one, others if no fewer than those stay free.
bool may_have_more(size_t held, size_t used, size_t limit) {
  if (used >= limit) return false;
  return held == 0 || held + 1 <= limit - used - 1;
}
}  // namespace

struct Lookups::State {
  State(Limits allowed, Resolve how) : limits(allowed), resolve(std::move(how)) {}

  static void run(const std::shared_ptr<State>& state);
  void start_thread(const std::shared_ptr<State>& self) REQUIRES(mutex);
  bool add(Asker& asker, const std::shared_ptr<State>& self);
  bool has_thread_for(const std::string& account) const REQUIRES(mutex);
  bool has_place_for(const std::string& account) const REQUIRES(mutex);
  const Asker* next_to_ask() const REQUIRES(mutex);

  const Limits limits;
  const Resolve resolve;
  Mutex mutex;
  ConditionVariable work;
  std::map<std::string, QuestionPtr, std::less<>> questions
      GUARDED_BY(mutex);                            // Open ones, by name.
  std::deque<QuestionPtr> queue GUARDED_BY(mutex);  // Those that wait for a thread.
  std::map<std::string, size_t, std::less<>> running
      GUARDED_BY(mutex);  // Names being looked up, by account.
  size_t threads GUARDED_BY(mutex) = 0;
  size_t idle GUARDED_BY(mutex) = 0;
  bool stopping GUARDED_BY(mutex) = false;
};

bool Lookups::State::has_thread_for(const std::string& account) const {
  size_t busy = 0;
  for (const auto& [each, count] : running) busy += count;
  const auto own = running.find(account);
  return may_have_more(own == running.end() ? 0 : own->second, busy, limits.threads);
}

bool Lookups::State::has_place_for(const std::string& account) const {
  const auto own = std::count_if(queue.begin(), queue.end(), [&](const QuestionPtr& question) {
    return question->askers.front()->account == account;
  });
  return may_have_more(static_cast<size_t>(own), queue.size(), limits.waiting);
}

// The first who waits for a thread that may have one; null when there is nobody.
const Asker* Lookups::State::next_to_ask() const {
  for (const auto& question : queue) {
    for (const Asker* asker : question->askers) {
      if (has_thread_for(asker->account)) return asker;
    }
  }
  return nullptr;
}

// A thread: one question after the other.
void Lookups::State::run(const std::shared_ptr<State>& state) {
  MutexLock lock(state->mutex);
  while (true) {
    ++state->idle;
    const Asker* first = nullptr;
    state->work.wait(lock, [&]() REQUIRES(state->mutex) {
      first = state->next_to_ask();
      return state->stopping || first != nullptr;
    });
    --state->idle;
    if (state->stopping) return;
    const QuestionPtr question = state->questions.at(first->host);
    const std::string account = first->account;
    std::erase(state->queue, question);
    ++state->running[account];
    question->asked = true;
    lock.unlock();
    auto resolved = state->resolve(question->host, 0);
    const Addresses found = resolved ? Addresses(std::move(*resolved)) : Addresses(Error::kUnknown);
    lock.lock();
    if (--state->running[account] == 0) state->running.erase(account);
    state->work.notify_all();  // Others may have their turn now.
    state->questions.erase(question->host);
    const std::list<Asker*> askers = std::move(question->askers);
    lock.unlock();
    for (Asker* asker : askers) asker->found.set(with_port(found, asker->port));
    lock.lock();
  }
}

void Lookups::State::start_thread(const std::shared_ptr<State>& self) {
  std::thread thread([self] { run(self); });
  pthread_setname_np(thread.native_handle(), "lookup");
  thread.detach();
  ++threads;
}

// False when too many wait.
bool Lookups::State::add(Asker& asker, const std::shared_ptr<State>& self) {
  MutexLock lock(mutex);
  const auto known = questions.find(asker.host);
  if (known != questions.end()) {
    known->second->askers.push_back(&asker);
    work.notify_one();  // It may have a thread where those who asked before may not.
    return true;
  }
  const bool at_once =
      (queue.size() < idle || threads < limits.threads) && has_thread_for(asker.account);
  if (!at_once && !has_place_for(asker.account)) return false;
  auto question = std::make_shared<Question>();
  question->host = asker.host;
  question->askers.push_back(&asker);
  questions.emplace(asker.host, question);
  queue.push_back(std::move(question));
  if (queue.size() > idle && threads < limits.threads) start_thread(self);
  work.notify_one();
  return true;
}

Lookups::Lookups(Limits limits, Resolve resolve)
    : state_(std::make_shared<State>(limits, std::move(resolve))) {}

Lookups::~Lookups() {
  CHECK(!anyone_waits());
  MutexLock lock(state_->mutex);
  state_->stopping = true;
  state_->work.notify_all();
}

Task<Lookups::Addresses> Lookups::find(std::string host, uint16_t port, std::string account,
                                       int64_t now_ms) {
  Asker asker{
      port, std::move(host), std::move(account), now_ms + state_->limits.longest.count(), {}};
  if (!state_->add(asker, state_)) co_return Error::kBusy;
  co_return co_await asker.found;
}

void Lookups::expire(int64_t now_ms) {
  std::list<Asker*> late;
  {
    MutexLock lock(state_->mutex);
    for (auto at = state_->questions.begin(); at != state_->questions.end();) {
      const QuestionPtr question = at->second;
      auto& askers = question->askers;
      for (auto asker = askers.begin(); asker != askers.end();) {
        const auto next = std::next(asker);
        if ((*asker)->deadline_ms <= now_ms) late.splice(late.end(), askers, asker);
        asker = next;
      }
      const bool pointless = askers.empty() && !question->asked;
      if (pointless) std::erase(state_->queue, question);
      at = pointless ? state_->questions.erase(at) : std::next(at);
    }
  }
  for (Asker* asker : late) asker->found.set(Error::kLate);
}

bool Lookups::anyone_waits() const {
  MutexLock lock(state_->mutex);
  return std::any_of(state_->questions.begin(), state_->questions.end(),
                     [](const auto& open) { return !open.second->askers.empty(); });
}

}  // namespace kyanite::net
