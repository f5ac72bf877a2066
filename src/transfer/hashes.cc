#include "transfer/hashes.h"

#include <algorithm>
#include <deque>
#include <thread>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/check.h"
#include "base/mutex.h"
#include "headers/http_properties.h"
#include "wire/crc64.h"

namespace kyanite::transfer {

using wire::Code;

namespace {
// Up to this size bytes are hashed where they are: handing them to another thread would cost more.
constexpr size_t kHashInPlaceBytes = 16 * 1024;
// So much of each body is hashed in turns: together it stays in a processor's cache for all hashes.
constexpr size_t kHashTogetherBytes = 32 * 1024;
constexpr size_t kStepsATurn = 128;
}  // namespace

// What one body has to have hashed.
struct Hashes::Work {
  Hashes& hashes;
  std::span<const Buffer> chunks;
  Pending<bool> done;
  Work* next = nullptr;  // Of the same body. Belongs to Waiting.

  // Of the chunk at hand.
  size_t chunk = 0;
  size_t offset = 0;

  std::string_view left() const {
    return chunk == chunks.size() ? std::string_view() : chunks[chunk].view().substr(offset);
  }
  void advance(size_t bytes) {
    offset += bytes;
    while (chunk < chunks.size() && offset == chunks[chunk].size()) {
      ++chunk;
      offset = 0;
    }
  }
};

// Of all bodies. Whoever waits is hashed together with others that do: that takes less of the
// processors than one thread for each. So there are few threads for it, until so many wait that
// all lanes of one more are full.
class Hashes::Waiting {
 public:
  using Works = std::vector<Work*>;

  static Waiting& all() {
    static auto* waiting = new Waiting;  // Never destroyed: workers may outlive static destruction.
    return *waiting;
  }

  // Whether works of this body are not done.
  bool has(const Hashes& hashes) {
    MutexLock lock(mutex_);
    return hashes.last_ != nullptr;
  }
  // Whether one more job has to look for works.
  bool add(Work& work) {
    MutexLock lock(mutex_);
    Work* const before = std::exchange(work.hashes.last_, &work);
    if (before != nullptr) {
      before->next = &work;
      return false;
    }
    works_.push_back(&work);
    const bool full = works_.size() >= Md5Hash::kMostAtOnce && jobs_ < processors_;
    if (jobs_ >= std::max<size_t>(1, processors_ / 2) && !full) return false;
    ++jobs_;
    return true;
  }
  // As many as one of the jobs has room for.
  void take(Works& works) {
    MutexLock lock(mutex_);
    while (!works_.empty() && works.size() < Md5Hash::kMostAtOnce) {
      works.push_back(works_.front());
      works_.pop_front();
    }
  }
  // The work is done. What follows of the same body takes its place, or comes after all who wait.
  Work* follow(Work& work, bool goes_on) {
    MutexLock lock(mutex_);
    if (work.next == nullptr) {
      work.hashes.last_ = nullptr;
    } else if (!goes_on || !works_.empty()) {
      works_.push_back(work.next);
      return nullptr;
    }
    return work.next;
  }
  // Whether a job is over because nothing waits.
  bool ends() {
    MutexLock lock(mutex_);
    if (!works_.empty()) return false;
    --jobs_;
    return true;
  }

 private:
  const size_t processors_ = std::thread::hardware_concurrency();
  Mutex mutex_;
  std::deque<Work*> works_ GUARDED_BY(mutex_);
  size_t jobs_ GUARDED_BY(mutex_) = 0;
};

Hashes::Hashes(bool with_md5) {
  if (with_md5) md5_.emplace();
}

void Hashes::take(std::string_view bytes) {
  if (md5_) md5_->update(bytes);
  crc64_ = wire::crc64(crc64_, bytes);
}

void Hashes::take_all(std::span<const Buffer> chunks) {
  for (const Buffer& chunk : chunks) take(chunk.view());
}

// The next bytes of each. A work that is done is gone.
void Hashes::hash_some(std::vector<Work*>& works, bool goes_on) {
  std::vector<Md5Hash::Update> updates;
  updates.reserve(works.size());
  for (Work* work : works)
    updates.push_back({&*work->hashes.md5_, work->left().substr(0, kHashTogetherBytes)});
  Md5Hash::update_all(updates);
  for (size_t i = 0; i < works.size(); ++i) {
    works[i]->hashes.crc64_ = wire::crc64(works[i]->hashes.crc64_, updates[i].bytes);
    works[i]->advance(updates[i].bytes.size());
  }
  for (Work*& work : works) {
    if (!work->left().empty()) continue;
    Work& done = *std::exchange(work, Waiting::all().follow(*work, goes_on));
    done.done.set(true);
  }
  std::erase(works, nullptr);
}

// Who comes meanwhile takes the place of who is done. After a while other jobs have their turn.
void Hashes::hash_waiting(Workers& workers) {
  std::vector<Work*> works;
  for (size_t step = 0; step == 0 || !works.empty(); ++step) {
    const bool goes_on = step < kStepsATurn;
    if (goes_on) Waiting::all().take(works);
    hash_some(works, goes_on);
  }
  if (Waiting::all().ends()) return;
  // A further turn is never refused.
  CHECK(workers.submit([&workers] { hash_waiting(workers); }, Workers::Turn::kAgain));
}

Workers::Turn Hashes::next_turn() {
  return std::exchange(had_turn_, true) ? Workers::Turn::kAgain : Workers::Turn::kFirst;
}

Task<void> Hashes::update(Workers& workers, std::string_view bytes) {
  if (bytes.size() <= kHashInPlaceBytes) {
    take(bytes);
    co_return;
  }
  co_await workers.run(
      [&] {
        take(bytes);
        return true;
      },
      next_turn());
}

Task<void> Hashes::update_all(Workers& workers, std::span<const Buffer> chunks) {
  const bool one = chunks.size() == 1;
  if (one &&
      (!md5_ || (chunks.front().size() <= kHashInPlaceBytes && !Waiting::all().has(*this)))) {
    co_await update(workers, chunks.front().view());
    co_return;
  }
  if (!md5_) {
    co_await workers.run(
        [&] {
          take_all(chunks);
          return true;
        },
        next_turn());
    co_return;
  }
  Work work{*this, chunks, {}};
  work.advance(0);
  if (Waiting::all().add(work)) {
    // Who is not let in does it, and what others wait for, at once.
    const auto job = [&workers] { hash_waiting(workers); };
    if (!workers.submit(job, next_turn())) job();
  }
  co_await work.done;
}

Task<bool> Hashes::update_zeros(Workers& workers, uint64_t count, Deadline deadline) {
  if (!md5_) {
    crc64_ = wire::crc64_zeros(crc64_, count);
    co_return true;
  }
  static const std::string zeros(kChunkBytes, '\0');
  while (count > 0) {
    if (deadline.over()) co_return false;
    const auto bytes = std::string_view(zeros).substr(0, std::min<uint64_t>(count, zeros.size()));
    co_await update(workers, bytes);
    count -= bytes.size();
  }
  co_return true;
}

std::string Hashes::md5() { return md5_ ? md5_->finish() : std::string(); }

wire::Result<HashClaims> decode_claims(const service::Call& call, const ClaimHeaders& headers) {
  HashClaims claims;
  auto md5 = headers::decode_md5(call, headers.md5);
  if (!md5) return md5.error();
  claims.md5 = std::move(*md5);
  const auto text = call.headers().find(headers.crc64);
  if (!text || text->empty()) return claims;
  if (!claims.md5.empty()) return wire::Error(Code::kBothCrc64AndMd5HeaderPresent);
  auto bytes = unbase64(*text);
  if (!bytes || bytes->size() != 8) return wire::invalid_header(headers.crc64, *text);
  uint64_t crc = 0;
  for (int i = 7; i >= 0; --i)
    crc = crc << 8 | static_cast<unsigned char>((*bytes)[static_cast<size_t>(i)]);
  claims.crc64 = crc;
  return claims;
}

wire::Result<void> check_claims(const HashClaims& claims, std::string_view md5, uint64_t crc64) {
  if (!claims.md5.empty() && claims.md5 != md5) return wire::md5_mismatch(claims.md5, md5);
  if (claims.crc64 && *claims.crc64 != crc64) return wire::crc64_mismatch(*claims.crc64, crc64);
  return {};
}

}  // namespace kyanite::transfer
