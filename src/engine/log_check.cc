#include "engine/log_check.h"

#include <algorithm>
#include <string>

#include "base/bytes.h"
#include "engine/log_fragment.h"
#include "store/checksum.h"

namespace kyanite::engine {

namespace {

uint32_t mask(uint32_t crc) { return ((crc >> 15) | (crc << 17)) + 0xa282ead8u; }

}  // namespace

std::optional<Fragment> parse_fragment(std::string_view rest) {
  if (rest.size() < kFragmentHeaderBytes) return std::nullopt;
  const auto byte = [&](size_t at) { return static_cast<unsigned char>(rest[at]); };
  const uint8_t kind = byte(6);
  const size_t length = byte(4) | size_t{byte(5)} << 8;
  if (kind < kWhole || kind > kLast || length > rest.size() - kFragmentHeaderBytes)
    return std::nullopt;
  if (mask(store::crc32c(rest.substr(6, 1 + length))) != read_le32(rest.data()))
    return std::nullopt;
  return Fragment{static_cast<FragmentKind>(kind), rest.substr(kFragmentHeaderBytes, length)};
}

namespace {

// The numbers of a record's writes.
struct Writes {
  uint64_t first = 0;
  uint64_t next = 0;
};

// Takes them from the first bytes of records, which may be in more than one fragment.
class BatchHeader {
 public:
  // The writes of the record at hand, at the fragment with which its header is whole.
  std::optional<Writes> take(const Fragment& fragment) {
    if (fragment.begins_record()) bytes_.emplace();
    if (!bytes_) return std::nullopt;
    bytes_->append(fragment.bytes.substr(0, kBatchHeaderBytes - bytes_->size()));
    if (bytes_->size() < kBatchHeaderBytes) return std::nullopt;
    const uint64_t first = read_le64(bytes_->data());
    const Writes writes{first, first + read_le32(bytes_->data() + sizeof first)};
    bytes_.reset();
    return writes;
  }
  // What follows does not go on with this record.
  void forget() { bytes_.reset(); }

 private:
  std::optional<std::string> bytes_;  // While it is not whole.
};

class LogScan {
 public:
  // False when a record that is not whole is followed by the beginning of a later one.
  bool take(std::string_view block) {
    size_t at = 0;
    while (!end_ && at + kFragmentHeaderBytes <= block.size()) {
      const auto fragment = parse_fragment(block.substr(at));
      if (!fragment) {
        end_ = position_ + at;
        header_.forget();
        break;
      }
      pass(*fragment);
      at += fragment->size();
    }
    // Lengths cannot be trusted from here on, so every place is tried.
    for (; end_ && at + kFragmentHeaderBytes <= block.size(); ++at) {
      const auto fragment = parse_fragment(block.substr(at));
      const auto writes = fragment ? header_.take(*fragment) : std::nullopt;
      if (writes && writes->first > begun_.first) return false;
    }
    position_ += block.size();
    return true;
  }
  uint64_t end() const { return end_.value_or(position_); }
  std::optional<uint64_t> first() const { return first_; }
  uint64_t next() const { return next_; }

 private:
  void pass(const Fragment& fragment) {
    if (const auto writes = header_.take(fragment)) {
      begun_ = *writes;
      if (!first_) first_ = begun_.first;
    }
    if (fragment.ends_record()) next_ = begun_.next;
  }

  uint64_t position_ = 0;
  std::optional<uint64_t> end_;  // Where the first fragment is that is not whole.
  BatchHeader header_;
  Writes begun_;  // Of the last record that begins before it.
  std::optional<uint64_t> first_;
  uint64_t next_ = 0;
};

}  // namespace

LogCheck check_log(std::string_view log) {
  LogScan scan;
  while (!log.empty()) {
    if (!scan.take(log.substr(0, kLogBlockBytes))) return {.damage = scan.end(), .first = {}};
    log.remove_prefix(std::min(log.size(), kLogBlockBytes));
  }
  return {.damage = {}, .first = scan.first(), .next = scan.next(), .end = scan.end()};
}

}  // namespace kyanite::engine
