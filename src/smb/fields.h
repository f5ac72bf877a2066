// One description of a structure serves both directions. A structure lists its fields once, in
// the order in which they travel:
//
//   struct TreeConnectRequest {
//     uint16_t flags = 0;
//     std::string path;
//     template <class Io>
//     void fields(Io& io) {
//       Whereabouts<uint16_t, uint16_t> at;
//       io(flags, at.offset, at.length);
//       io.placed_text(at, path);
//     }
//   };
//
// and a Reader fills it from bytes of a peer while a Writer makes these bytes. All integers are
// little-endian. Offsets count from where the frame begins, which for messages is their header.
//
// Reading never leaves the frame: the first field, offset or length that would do so makes the
// reader fail, after which everything it is asked for is zero or empty. Views point into the frame.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/check.h"
#include "smb/numbers.h"
#include "smb/text.h"

namespace kyanite::smb {

static_assert(std::endian::native == std::endian::little);

using Guid = std::array<char, 16>;  // As it travels.

// A number about something that follows later in the frame: a count, a length, an offset. Writers
// leave room and fill it in when they come to the thing itself.
template <class Int>
struct Later {
  Int value = 0;  // What was read.
  size_t at = 0;  // Where a writer left room.
};

template <class Offset, class Length>
struct Whereabouts {
  Later<Offset> offset;
  Later<Length> length;
};

namespace fields_internal {
template <class T>
struct IsLater : std::false_type {};
template <class Int>
struct IsLater<Later<Int>> : std::true_type {};
template <class T>
struct IsBytes : std::false_type {};
template <size_t kSize>
struct IsBytes<std::array<char, kSize>> : std::true_type {};
template <class T>
inline constexpr bool kIsNumber = std::is_integral_v<T> || std::is_enum_v<T>;
}  // namespace fields_internal

class Reader {
 public:
  static constexpr bool kReading = true;

  explicit Reader(std::string_view frame, size_t at = 0) : frame_(frame), at_(at) {
    if (at > frame.size()) fail();
  }

  bool ok() const { return status_ == Status::kSuccess; }
  Status status() const { return status_; }
  void fail(Status status = Status::kInvalidParameter) {
    if (ok()) status_ = status;
    at_ = frame_.size();
  }
  bool at_end() const { return at_ == frame_.size(); }

  template <class... Fields>
  void operator()(Fields&... fields) {
    (field(fields), ...);
  }
  void reserved(size_t count) { take(count); }
  // A number that can be no other.
  template <class Int>
  void constant(Int wanted) {
    Int found{};
    field(found);
    if (found != wanted) fail();
  }
  // What is somewhere behind the fields that were read up to here. Of nothing the offset may be
  // anything.
  template <class Offset, class Length>
  void placed(const Whereabouts<Offset, Length>& place, std::string_view& bytes) {
    const size_t offset = place.offset.value;
    const size_t length = place.length.value;
    bytes = {};
    if (!ok() || length == 0) return;
    if (offset < at_ || offset > frame_.size() || length > frame_.size() - offset) return fail();
    bytes = frame_.substr(offset, length);
  }
  template <class Offset, class Length>
  void placed_or_none(const Whereabouts<Offset, Length>& place, std::string_view& bytes) {
    placed(place, bytes);
  }
  template <class Offset, class Length>
  void placed_text(const Whereabouts<Offset, Length>& place, std::string& text,
                   Status unreadable = Status::kObjectNameInvalid) {
    std::string_view bytes;
    placed(place, bytes);
    read_text(bytes, text, unreadable);
  }

  // What follows at once.
  template <class Length>
  void following(const Later<Length>& length, std::string_view& bytes) {
    bytes = take(length.value);
  }
  template <class Length>
  void text(const Later<Length>& length, std::string& text) {
    read_text(take(length.value), text, Status::kObjectNameInvalid);
  }
  template <class Count, class T>
  void repeated(const Later<Count>& count, std::vector<T>& items, size_t most) {
    items.clear();
    if (count.value > most) return fail();
    for (Count i = 0; i < count.value && ok(); ++i) field(items.emplace_back());
    if (!ok()) items.clear();
  }
  void rest(std::string_view& bytes) { bytes = take(frame_.size() - at_); }

  // For lists of parts that are aligned to the frame.
  void seek(size_t offset) {
    if (offset < at_ || offset > frame_.size()) return fail();
    at_ = offset;
  }
  void skip_to_multiple_of(size_t alignment) { take((alignment - at_ % alignment) % alignment); }

 private:
  std::string_view take(size_t count) {
    if (count > frame_.size() - at_) fail();
    if (!ok()) return {};
    const std::string_view taken = frame_.substr(at_, count);
    at_ += count;
    return taken;
  }

  template <class T>
  void field(T& value) {
    using namespace fields_internal;
    if constexpr (std::is_same_v<T, bool>) {
      uint8_t byte = 0;
      field(byte);
      value = byte != 0;
    } else if constexpr (kIsNumber<T>) {
      value = T{};
      if (const std::string_view bytes = take(sizeof value); !bytes.empty())
        std::memcpy(&value, bytes.data(), sizeof value);
    } else if constexpr (IsBytes<T>::value) {
      value = {};
      if (const std::string_view bytes = take(value.size()); !bytes.empty())
        std::memcpy(value.data(), bytes.data(), value.size());
    } else if constexpr (IsLater<T>::value) {
      field(value.value);
    } else {
      value.fields(*this);
    }
  }

  void read_text(std::string_view utf16, std::string& text, Status unreadable) {
    text.clear();
    if (utf16.size() % 2 != 0) return fail();
    auto found = utf8_of(utf16);
    if (!found) return fail(unreadable);
    text = std::move(*found);
  }

  const std::string_view frame_;
  size_t at_;
  Status status_ = Status::kSuccess;
};

class Writer {
 public:
  static constexpr bool kReading = false;

  // Appends; the frame begins here, or where it began before.
  explicit Writer(std::string& out) : Writer(out, out.size()) {}
  Writer(std::string& out, size_t start) : out_(out), start_(start) {}

  // What is written was made by this server.
  void fail(Status = Status::kInvalidParameter) { CHECK(false); }

  template <class... Fields>
  void operator()(Fields&&... fields) {
    (field(fields), ...);
  }
  void reserved(size_t count) { out_.append(count, '\0'); }
  template <class Int>
  void constant(Int value) {
    field(value);
  }
  void pad_to(size_t alignment) { reserved((alignment - size() % alignment) % alignment); }

  template <class Offset, class Length>
  void placed(const Whereabouts<Offset, Length>& place, std::string_view bytes) {
    fill(place.offset, size());
    fill(place.length, bytes.size());
    out_ += bytes;
  }
  // Aligned; nothing is said to be at offset 0.
  template <class Offset, class Length>
  void placed_or_none(const Whereabouts<Offset, Length>& place, std::string_view bytes) {
    if (bytes.empty()) return;
    pad_to(8);
    placed(place, bytes);
  }
  template <class Offset, class Length>
  void placed_text(const Whereabouts<Offset, Length>& place, std::string_view utf8,
                   Status = Status::kObjectNameInvalid) {
    fill(place.offset, size());
    text(place.length, utf8);
  }

  template <class Length>
  void following(const Later<Length>& length, std::string_view bytes) {
    fill(length, bytes.size());
    out_ += bytes;
  }
  template <class Length>
  void text(const Later<Length>& length, std::string_view utf8) {
    const size_t before = out_.size();
    append_utf16(out_, utf8);
    fill(length, out_.size() - before);
  }
  template <class Count, class T>
  void repeated(const Later<Count>& count, const std::vector<T>& items, size_t) {
    fill(count, items.size());
    for (const T& item : items) field(item);
  }
  void rest(std::string_view bytes) { out_ += bytes; }

  size_t size() const { return out_.size() - start_; }
  template <class Int>
  void fill(const Later<Int>& later, size_t value) {
    CHECK(value <= std::numeric_limits<Int>::max());
    const auto number = static_cast<Int>(value);
    std::memcpy(out_.data() + start_ + later.at, &number, sizeof number);
  }

 private:
  template <class T>
  void field(T& value) {
    using namespace fields_internal;
    using Plain = std::remove_const_t<T>;
    if constexpr (std::is_same_v<Plain, bool>) {
      out_.push_back(value ? '\1' : '\0');
    } else if constexpr (kIsNumber<Plain>) {
      char bytes[sizeof value];
      std::memcpy(bytes, &value, sizeof value);
      out_.append(bytes, sizeof bytes);
    } else if constexpr (IsBytes<Plain>::value) {
      out_.append(value.data(), value.size());
    } else if constexpr (IsLater<Plain>::value) {
      value.at = size();
      field(value.value);
    } else {
      const_cast<Plain&>(value).fields(*this);
    }
  }

  std::string& out_;
  const size_t start_;
};

// Structures without a header: what IOCTL, QUERY_INFO and SET_INFO carry.
template <class T>
void append_fields(std::string& out, const T& value) {
  Writer writer(out);
  writer(value);
}

}  // namespace kyanite::smb
