// Finds the end of a reply's body that is sent in chunks, without keeping any of it.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <string>
#include <string_view>

namespace kyanite::load {

class Chunks {
 public:
  // How much of what comes next is content, which need not be looked at.
  size_t content() const { return content_; }
  void skip(size_t bytes) { content_ -= bytes; }
  bool ended() const { return ended_; }

  // False when these bytes are not chunks, or go on behind the end.
  bool take(std::string_view bytes) {
    while (!bytes.empty()) {
      if (ended_) return false;
      const size_t inside = std::min(content_, bytes.size());
      skip(inside);
      bytes.remove_prefix(inside);
      if (!bytes.empty() && !take_framing(bytes)) return false;
    }
    return true;
  }

 private:
  // Each line ends a chunk's content, where it is empty, or begins the next one.
  bool take_framing(std::string_view& bytes) {
    const size_t end = bytes.find('\n');
    line_.append(bytes.substr(0, end));
    if (line_.size() > kMostLine) return false;
    if (end == std::string_view::npos) {
      bytes = {};
      return true;
    }
    bytes.remove_prefix(end + 1);
    const bool expected = begins_ ? take_size() : line_ == "\r";
    if (!begins_ && last_) ended_ = true;
    begins_ = !begins_;
    line_.clear();
    return expected;
  }
  bool take_size() {
    const char* const end = line_.data() + line_.size();
    const auto read = std::from_chars(line_.data(), end, content_, 16);
    last_ = content_ == 0;
    return read.ec == std::errc() && read.ptr != end && *read.ptr == '\r';
  }

  static constexpr size_t kMostLine = 64;
  std::string line_;
  size_t content_ = 0;
  bool begins_ = true;  // The next line is a chunk's size.
  bool last_ = false;
  bool ended_ = false;
};

}  // namespace kyanite::load
