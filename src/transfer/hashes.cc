#include "transfer/hashes.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "base/bytes.h"
#include "base/mutex.h"
#include "headers/http_properties.h"
#include "wire/crc64.h"

namespace kyanite::transfer {

using wire::Code;

namespace {
// Up to this size bytes are hashed where they are: handing them to another thread would cost more.
constexpr size_t kHashInPlaceBytes = 16 * 1024;
}  // namespace

// What one body has to have hashed.
struct Hashes::Work {
  Hashes& hashes;
  std::span<const Buffer> chunks;
  Pending<bool> done;
};

// Of all bodies. There are never more works here than jobs that will look for one.
class Hashes::Waiting {
 public:
  static Waiting& all() {
    static auto* waiting = new Waiting;  // Never destroyed: workers may outlive static destruction.
    return *waiting;
  }

  void add(Work& work) {
    MutexLock lock(mutex_);
    works_.push_back(&work);
  }
  // Null when there is none.
  std::pair<Work*, Work*> take_two() {
    MutexLock lock(mutex_);
    Work* const one = take();
    return {one, take()};
  }

 private:
  Work* take() REQUIRES(mutex_) {
    if (works_.empty()) return nullptr;
    Work* const work = works_.front();
    works_.pop_front();
    return work;
  }

  Mutex mutex_;
  std::deque<Work*> works_ GUARDED_BY(mutex_);
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

// A work that is done is gone.
void Hashes::hash_waiting() {
  const auto [one, other] = Waiting::all().take_two();
  if (one == nullptr) return;
  if (other == nullptr) {
    one->hashes.take_all(one->chunks);
    one->done.set(true);
    return;
  }
  const size_t common = std::min(one->chunks.size(), other->chunks.size());
  for (size_t i = 0; i < common; ++i) {
    const std::string_view bytes = one->chunks[i].view();
    const std::string_view other_bytes = other->chunks[i].view();
    Md5Hash::update_both(*one->hashes.md5_, bytes, *other->hashes.md5_, other_bytes);
    one->hashes.crc64_ = wire::crc64(one->hashes.crc64_, bytes);
    other->hashes.crc64_ = wire::crc64(other->hashes.crc64_, other_bytes);
  }
  for (Work* work : {one, other}) {
    work->hashes.take_all(work->chunks.subspan(common));
    work->done.set(true);
  }
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
  Waiting::all().add(work);
  // Who is not let in does it, or what another waits for, at once.
  if (!workers.submit(hash_waiting, next_turn())) hash_waiting();
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
