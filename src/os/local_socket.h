// A channel between processes of one machine at a name in a directory. Only the owner of the name,
// and root, may come in.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "os/file.h"

namespace kyanite::os {

class LocalSocket {
 public:
  // Takes the place of a name that a process left behind. Does not wait in accept().
  static Result<LocalSocket> listen(const std::string& directory, const std::string& name);
  static Result<LocalSocket> connect(const std::string& directory, const std::string& name);

  LocalSocket(LocalSocket&& other) noexcept;
  LocalSocket& operator=(LocalSocket&& other) noexcept;
  ~LocalSocket();

  int descriptor() const { return descriptor_; }
  Result<LocalSocket> accept() const;

  // Texts go as lines of at most kMostLine bytes.
  static constexpr size_t kMostLine = 8192;
  Result<void> send_line(std::string_view line) const;
  // Nothing when the peer has closed it, or says nothing for so long.
  Result<std::optional<std::string>> receive_line(std::chrono::milliseconds patience) const;
  // Whether the peer has not closed it.
  bool is_open() const;

 private:
  explicit LocalSocket(int descriptor) : descriptor_(descriptor) {}

  int descriptor_;
};

}  // namespace kyanite::os
