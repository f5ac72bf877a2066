#include "net/lookups.h"

#include <pthread.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <list>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "base/check.h"
#include "base/executor.h"

namespace kyanite::net {

namespace {
// One who asked. Lives in the coroutine that waits.
struct Asker {
  uint16_t port;
  int64_t deadline_ms;
  Pending<Lookups::Found> found;
};

// One name, with all who asked for it.
struct Question {
  std::string host;
  std::list<Asker*> askers;
  bool asked = false;  // A thread has it.
};
using QuestionPtr = std::shared_ptr<Question>;

Lookups::Found with_port(Lookups::Found found, uint16_t port) {
  if (!found) return found;
  for (Address& address : *found) address.set_port(port);
  return found;
}
}  // namespace

struct Lookups::State {
  explicit State(Resolve how) : resolve(std::move(how)) {}

  static void run(const std::shared_ptr<State>& state);
  void start_thread(const std::shared_ptr<State>& self);
  bool add(Asker& asker, const std::string& host, const Limits& limits,
           const std::shared_ptr<State>& self);

  const Resolve resolve;
  std::mutex mutex;  // Guards what follows.
  std::condition_variable work;
  std::map<std::string, QuestionPtr, std::less<>> questions;  // Open ones, by name.
  std::deque<QuestionPtr> queue;                              // Those that wait for a thread.
  size_t threads = 0;
  size_t idle = 0;
  bool stopping = false;
};

// A thread: one question after the other.
void Lookups::State::run(const std::shared_ptr<State>& state) {
  std::unique_lock lock(state->mutex);
  while (true) {
    ++state->idle;
    state->work.wait(lock, [&] { return state->stopping || !state->queue.empty(); });
    --state->idle;
    if (state->stopping) return;
    const QuestionPtr question = std::move(state->queue.front());
    state->queue.pop_front();
    question->asked = true;
    lock.unlock();
    auto resolved = state->resolve(question->host, 0);
    const Found found = resolved ? Found(std::move(*resolved)) : Found(Error::kUnknown);
    lock.lock();
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
bool Lookups::State::add(Asker& asker, const std::string& host, const Limits& limits,
                         const std::shared_ptr<State>& self) {
  std::lock_guard lock(mutex);
  const auto known = questions.find(host);
  if (known != questions.end()) {
    known->second->askers.push_back(&asker);
    return true;
  }
  const bool at_once = queue.size() < idle || threads < limits.threads;
  if (!at_once && queue.size() >= limits.waiting) return false;
  auto question = std::make_shared<Question>();
  question->host = host;
  question->askers.push_back(&asker);
  questions.emplace(host, question);
  queue.push_back(std::move(question));
  if (queue.size() > idle && threads < limits.threads) start_thread(self);
  work.notify_one();
  return true;
}

Lookups::Lookups(Limits limits, Resolve resolve)
    : limits_(limits), state_(std::make_shared<State>(std::move(resolve))) {}

Lookups::~Lookups() {
  CHECK(!anyone_waits());
  std::lock_guard lock(state_->mutex);
  state_->stopping = true;
  state_->work.notify_all();
}

Task<Lookups::Found> Lookups::find(std::string host, uint16_t port, int64_t now_ms) {
  Asker asker{port, now_ms + limits_.longest.count(), {}};
  if (!state_->add(asker, host, limits_, state_)) co_return Error::kBusy;
  co_return co_await asker.found;
}

void Lookups::expire(int64_t now_ms) {
  std::list<Asker*> late;
  {
    std::lock_guard lock(state_->mutex);
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
  std::lock_guard lock(state_->mutex);
  return std::any_of(state_->questions.begin(), state_->questions.end(),
                     [](const auto& open) { return !open.second->askers.empty(); });
}

}  // namespace kyanite::net
