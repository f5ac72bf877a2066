// The codec of stored records. A record type describes its fields once:
//
//   struct Point {
//     int64_t x = 0;
//     std::string label;
//     template <class Io> void fields(Io& io) { io(1, x); io(2, label); }
//   };
//
// and encode()/decode() do the rest. On disk a record is a format byte and then, in ascending tag
// order, tag (varint), length (varint) and payload of every field that differs from its default.
// Tags are never reused; unknown tags are skipped, absent ones keep their default, so that fields
// can be added without rewriting data. docs/formats/records.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/check.h"
#include "base/clock.h"

namespace kyanite::store {

inline constexpr char kRecordFormat = 1;

class FieldWriter;

namespace fields_internal {
template <class T>
concept HasFields = requires(T& value, FieldWriter& io) {
  value.fields(io);
};
template <class T>
struct IsVector : std::false_type {};
template <class T>
struct IsVector<std::vector<T>> : std::true_type {};
template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};
template <class T>
struct IsPair : std::false_type {};
template <class A, class B>
struct IsPair<std::pair<A, B>> : std::true_type {};

inline uint64_t zigzag(int64_t value) {
  return (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
}
inline int64_t unzigzag(uint64_t value) {
  return static_cast<int64_t>(value >> 1) ^ -static_cast<int64_t>(value & 1);
}
}  // namespace fields_internal

class FieldWriter {
 public:
  explicit FieldWriter(std::string& out) : out_(out) {}

  template <class T>
  void operator()(uint32_t tag, const T& value) {
    CHECK(tag > last_);
    last_ = tag;
    std::string payload;
    if (!write(payload, value)) return;
    append_varint(out_, tag);
    append_varint(out_, payload.size());
    out_ += payload;
  }

  // Appends the payload; false when the value is the default and can be left out.
  template <class T>
  static bool write(std::string& out, const T& value) {
    using namespace fields_internal;
    if constexpr (std::is_same_v<T, std::string>) {
      out += value;
      return !value.empty();
    } else if constexpr (std::is_same_v<T, Time>) {
      return write(out, static_cast<uint64_t>(value.ticks));
    } else if constexpr (std::is_enum_v<T> || std::is_same_v<T, bool>) {
      return write(out, static_cast<uint64_t>(value));
    } else if constexpr (std::is_integral_v<T> && std::is_unsigned_v<T>) {
      append_varint(out, value);
      return value != 0;
    } else if constexpr (std::is_integral_v<T>) {
      append_varint(out, zigzag(value));
      return value != 0;
    } else if constexpr (IsOptional<T>::value) {
      if (value) write(out, *value);
      return value.has_value();
    } else if constexpr (IsPair<T>::value) {
      item(out, value.first);
      item(out, value.second);
      return true;
    } else if constexpr (IsVector<T>::value) {
      for (const auto& element : value) item(out, element);
      return !value.empty();
    } else {
      static_assert(HasFields<T>);
      FieldWriter nested(out);
      const size_t before = out.size();
      const_cast<T&>(value).fields(nested);
      return out.size() != before;
    }
  }

 private:
  template <class T>
  static void item(std::string& out, const T& value) {
    std::string payload;
    write(payload, value);
    append_varint(out, payload.size());
    out += payload;
  }

  std::string& out_;
  uint32_t last_ = 0;
};

// Makes fields zero or empty; what memory they have they keep.
struct FieldClearer {
  template <class T>
  [[gnu::always_inline]] void operator()(uint32_t, T& value) {
    using namespace fields_internal;
    if constexpr (std::is_same_v<T, std::string> || IsVector<T>::value) {
      value.clear();
    } else if constexpr (HasFields<T>) {
      value.fields(*this);
    } else {
      value = T();
    }
  }
};

// Reads into fresh values, which keep what absent fields are by default, or (kAgain) into values
// used before, whose absent fields become zero or empty.
template <bool kAgain>
class FieldReader {
 public:
  explicit FieldReader(std::string_view in) : at_(in.data()), end_(at_ + in.size()) {}

  template <class T>
  [[gnu::always_inline]] void operator()(uint32_t tag, T& value) {
    if (tag_ < tag) advance_to(tag);
    if (tag_ == tag) {
      if (!read({payload_, static_cast<size_t>(at_ - payload_)}, value)) fail();
    } else if constexpr (kAgain) {
      FieldClearer()(tag, value);
    }
  }
  bool ok() const { return ok_; }
  // The bytes of all fields from this tag on, which must not have been read yet.
  std::string_view rest(uint32_t tag) {
    if (tag_ < tag) advance_to(tag);
    return tag_ == kNoTag ? std::string_view()
                          : std::string_view(field_, static_cast<size_t>(end_ - field_));
  }

  template <class T>
  static bool read(std::string_view in, T& value) {
    using namespace fields_internal;
    if constexpr (std::is_same_v<T, std::string_view>) {
      value = in;  // Where it is stored.
      return true;
    } else if constexpr (std::is_same_v<T, std::string>) {
      value.assign(in);
      return true;
    } else if constexpr (std::is_same_v<T, Time>) {
      uint64_t ticks = 0;
      if (!read(in, ticks)) return false;
      value.ticks = static_cast<int64_t>(ticks);
      return true;
    } else if constexpr (std::is_enum_v<T> || std::is_same_v<T, bool>) {
      uint64_t number = 0;
      if (!read(in, number)) return false;
      value = static_cast<T>(number);
      return true;
    } else if constexpr (std::is_integral_v<T>) {
      uint64_t number = 0;
      if (!read_varint(in, number) || !in.empty()) return false;
      value = std::is_unsigned_v<T> ? static_cast<T>(number) : static_cast<T>(unzigzag(number));
      return true;
    } else if constexpr (IsOptional<T>::value) {
      return read(in, value.emplace());
    } else if constexpr (IsPair<T>::value) {
      return item(in, value.first) && item(in, value.second) && in.empty();
    } else if constexpr (IsVector<T>::value) {
      value.clear();
      while (!in.empty()) {
        if (!item(in, value.emplace_back())) return false;
      }
      return true;
    } else {
      static_assert(HasFields<T>);
      FieldReader nested(in);
      value.fields(nested);
      return nested.ok();
    }
  }

 private:
  static constexpr uint32_t kNoTag = UINT32_MAX;  // Behind the last field, or after an error.

  [[gnu::always_inline]] void advance_to(uint32_t tag) {
    while (tag_ < tag) {
      if constexpr (kAgain) {
        step();  // Inlined: scans spend much of their time here.
      } else {
        advance();
      }
    }
  }
  void fail() {
    ok_ = false;
    tag_ = kNoTag;
  }
  void advance() { step(); }
  [[gnu::always_inline]] void step() {
    if (at_ == end_) {
      tag_ = kNoTag;
      return;
    }
    field_ = at_;
    uint64_t tag = 0;
    uint64_t length = 0;
    if (end_ - at_ >= 2 && ((at_[0] | at_[1]) & 0x80) == 0) {
      // Mostly both are short.
      tag = static_cast<uint8_t>(at_[0]);
      length = static_cast<uint8_t>(at_[1]);
      at_ += 2;
    } else if (!read_long_head(tag, length)) {
      return fail();
    }
    if (tag <= tag_ || tag >= kNoTag || length > static_cast<size_t>(end_ - at_)) return fail();
    tag_ = static_cast<uint32_t>(tag);
    payload_ = at_;
    at_ += length;
  }
  bool read_long_head(uint64_t& tag, uint64_t& length) {
    std::string_view in(at_, static_cast<size_t>(end_ - at_));
    if (!read_varint(in, tag) || !read_varint(in, length)) return false;
    at_ = in.data();
    return true;
  }

  template <class T>
  static bool item(std::string_view& in, T& value) {
    uint64_t length = 0;
    if (!read_varint(in, length) || length > in.size()) return false;
    if (!read(in.substr(0, length), value)) return false;
    in.remove_prefix(length);
    return true;
  }

  const char* at_;  // Behind the field of that tag:
  const char* const end_;
  uint32_t tag_ = 0;
  const char* field_ = nullptr;    // where it begins,
  const char* payload_ = nullptr;  // and its payload.
  bool ok_ = true;
};

template <class T>
std::string encode(const T& value) {
  std::string out(1, kRecordFormat);
  FieldWriter::write(out, value);
  return out;
}

// Nothing when the bytes are not a record of this format.
template <class T>
std::optional<T> decode(std::string_view bytes) {
  if (bytes.empty() || bytes.front() != kRecordFormat) return {};
  T value;
  if (!FieldReader<false>::read(bytes.substr(1), value)) return {};
  return value;
}

// For scans of many records: reads into values decoded before, whose memory serves again. Only for
// types whose fields are all zero or empty by default.
inline std::optional<FieldReader<true>> read_again(std::string_view bytes) {
  if (bytes.empty() || bytes.front() != kRecordFormat) return {};
  return FieldReader<true>(bytes.substr(1));
}

}  // namespace kyanite::store
