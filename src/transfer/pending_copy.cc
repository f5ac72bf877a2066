#include "transfer/pending_copy.h"

#include "base/bytes.h"
#include "base/executor.h"
#include "base/log.h"
#include "base/random.h"
#include "http/fetch.h"
#include "http/url.h"
#include "jobs/walk.h"
#include "lifetime/directory.h"
#include "service/storage.h"
#include "store/fields.h"

namespace kyanite::transfer {

namespace {

// How often the progress of a copy is written down.
constexpr uint64_t kProgressBytes = 32 * 1024 * 1024;

// In the form in which the service describes failures: status, code, and a sentence.
std::string describe_failure(int status, std::string_view what) {
  std::string text;
  append_uint(text, static_cast<uint64_t>(status));
  return text.append(" CannotVerifyCopySource \"").append(what).append("\"");
}

}  // namespace

PendingCopy make_note(const service::Call& call, const http::Headers& told) {
  PendingCopy note;
  note.id = random_uuid();
  note.url = call.headers().get("x-ms-copy-source");
  if (const auto etag = told.get("ETag"); etag.substr(0, 2) != "W/") note.etag = etag;
  note.started = call.now;
  return note;
}

CopyRunner::CopyRunner(const CopyDestinations& destinations, store::Family notes)
    : destinations_(destinations), notes_(notes), id_(random_u64()) {}

CopyRunner::~CopyRunner() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (auto& thread : threads_) thread.join();
}

Task<store::Result<void>> CopyRunner::write_note(store::Store& store, const std::string& account,
                                                 const std::string& id,
                                                 store::RecordPtr record) const {
  store::Commit commit;
  commit.writes.push_back(
      {store::Key(lifetime::directory_space(account), notes_, id), std::move(record)});
  co_return co_await store.commit(std::move(commit));
}

Task<store::Result<void>> CopyRunner::note(store::Store& store, const std::string& account,
                                           PendingCopy& copy) {
  copy.runner = id_;
  co_return co_await write_note(store, account, copy.id, service::to_record(copy));
}

void CopyRunner::submit(service::Context& context, std::string account, PendingCopy copy) {
  MutexLock lock(mutex_);
  if (stopping_ || waiting_.size() == kMostWaiting) return;
  if (!known_.insert(copy.id).second) return;
  waiting_.push_back({&context, std::move(account), std::move(copy)});
  if (idle_ >= waiting_.size() || threads_.size() == kAtOnce) {
    wake_.notify_one();
  } else {
    threads_.emplace_back([this] { work(); });
  }
}

void CopyRunner::work() {
  MutexLock lock(mutex_);
  while (true) {
    ++idle_;
    wake_.wait(lock, [this]() REQUIRES(mutex_) { return stopping_ || !waiting_.empty(); });
    --idle_;
    if (stopping_) return;
    const Waiting next = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    RunLoop::run(run(*next.context, next.account, next.copy));
    lock.lock();
    known_.erase(next.copy.id);
  }
}

Task<void> CopyRunner::run(service::Context& context, const std::string& account,
                           const PendingCopy& copy) {
  const store::Hold hold = context.store.hold();
  auto ended = co_await fetch(context, account, copy);
  if (ended && *ended) {
    auto removed = co_await write_note(context.store, account, copy.id, nullptr);
    if (removed) co_return;
    ended = removed.error();
  }
  if (!ended) log_warning(std::string("a pending copy: ") + store::describe(ended.error()));
}

Task<store::Result<bool>> CopyRunner::fetch(service::Context& context, const std::string& account,
                                            const PendingCopy& copy) {
  const auto url = http::parse_url(copy.url);
  if (!url || context.fetcher == nullptr) {
    const auto why = describe_failure(403, "This server does not copy from other servers.");
    auto failed = co_await destinations_.fail(context, copy, why);
    if (!failed) co_return failed.error();
    co_return true;
  }
  if (after_seconds(copy.started, kMaxSeconds) <= context.clock.now()) {
    auto failed = co_await destinations_.fail(
        context, copy, "500 OperationCancelled \"The copy is pending for too long.\"");
    if (!failed) co_return failed.error();
    co_return true;
  }
  http::Fetcher::Lines headers;
  if (!copy.etag.empty()) headers.emplace_back("If-Match", copy.etag);
  auto fetched = co_await context.fetcher->get(*url, std::move(headers), {}, account);
  std::optional<std::string> failure;
  if (!fetched && fetched.error().kind == http::FetchError::kBusy) co_return false;
  if (!fetched) {
    failure = describe_failure(500, fetched.error().what);
  } else if ((*fetched)->status() != 200) {
    failure = describe_failure((*fetched)->status(), "The copy source cannot be read.");
  }
  content::Writer writer(context.store);
  uint64_t length = 0;
  uint64_t told = 0;
  while (!failure) {
    if (stopping_) co_return false;
    auto chunk = co_await (*fetched)->next();
    if (!chunk && chunk.error().kind == http::FetchError::kBusy) co_return false;
    if (!chunk) failure = describe_failure(500, chunk.error().what);
    if (failure || chunk->empty()) break;
    length += chunk->size();
    auto added = co_await writer.add(std::move(*chunk));
    if (!added) co_return added.error();
    if (length - told < kProgressBytes) continue;
    told = length;
    auto waits = co_await destinations_.progress(context, copy, length);
    if (!waits) co_return waits.error();
    if (!*waits) co_return true;
  }
  if (failure) {
    auto failed = co_await destinations_.fail(context, copy, *failure);
    if (!failed) co_return failed.error();
    co_return true;
  }
  auto pieces = co_await writer.finish();
  if (!pieces) co_return pieces.error();
  auto completed = co_await destinations_.complete(context, copy, *pieces, length);
  if (!completed) co_return completed.error();
  co_return true;
}

Task<store::Result<bool>> CopyRunner::resume(jobs::Step& step, service::Context& context) {
  std::vector<PendingCopy> copies;
  const jobs::See see = [&](const store::View&,
                            const store::View::Cursor& cursor) -> store::Result<bool> {
    auto record = cursor.record();
    if (!record) return record.error();
    auto copy = store::decode<PendingCopy>((*record)->value);
    if (!copy) return store::Error::kCorrupt;
    copies.push_back(std::move(*copy));
    return true;
  };
  std::vector<store::Range> notes(
      1, store::Range::family(lifetime::directory_space(step.account()), notes_));
  std::string next = step.cursor;
  auto at_end = co_await jobs::walk(step, std::move(notes), next, see);
  if (!at_end) co_return at_end;
  step.cursor = std::move(next);
  for (auto& copy : copies) {
    // A fresh note of this run may precede its object by a moment.
    if (copy.runner != id_ || after_seconds(copy.started, kRetryAfterSeconds) <= step.now())
      submit(context, step.account(), std::move(copy));
  }
  co_return at_end;
}

jobs::Job CopyRunner::resume_job(std::string name, service::Context& context) {
  constexpr int64_t kRestSeconds = 5;
  return {
      std::move(name), kRestSeconds, {.looks = kMostWaiting}, [this, &context](jobs::Step& step) {
        return resume(step, context);
      }};
}

}  // namespace kyanite::transfer
