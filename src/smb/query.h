// QUERY_INFO, SET_INFO, QUERY_DIRECTORY, CHANGE_NOTIFY and IOCTL: the messages. What they carry is
// in info.h, directory.h and ioctl.h.
#pragma once

#include <string>
#include <string_view>

#include "smb/create.h"
#include "smb/fields.h"
#include "smb/numbers.h"

namespace kyanite::smb {

struct QueryInfoRequest {
  static constexpr uint16_t kStructureSize = 41;
  InfoType type = InfoType::kFile;
  uint8_t info_class = 0;  // FileClass or VolumeClass, as the type is.
  uint32_t output_length = 0;
  uint32_t additional = 0;  // Parts of a security descriptor.
  uint32_t flags = 0;
  FileId file;
  std::string_view input;
  bool operator==(const QueryInfoRequest&) const = default;

  template <class Io>
  void fields(Io& io) {
    Whereabouts<uint16_t, uint32_t> input_at;
    io(type, info_class, output_length, input_at.offset);
    io.reserved(2);
    io(input_at.length, additional, flags, file);
    io.placed(input_at, input);
  }
};

struct SetInfoRequest {
  static constexpr uint16_t kStructureSize = 33;
  InfoType type = InfoType::kFile;
  uint8_t info_class = 0;
  uint32_t additional = 0;
  FileId file;
  std::string_view input;
  bool operator==(const SetInfoRequest&) const = default;

  template <class Io>
  void fields(Io& io) {
    Whereabouts<uint16_t, uint32_t> input_at;
    io(type, info_class, input_at.length, input_at.offset);
    io.reserved(2);
    io(additional, file);
    io.placed(input_at, input);
  }
};

struct SetInfoReply {
  static constexpr uint16_t kStructureSize = 2;
  bool operator==(const SetInfoReply&) const = default;
  template <class Io>
  void fields(Io&) {}
};

struct QueryDirectoryRequest {
  static constexpr uint16_t kStructureSize = 33;
  FileClass info_class = FileClass::kDirectory;
  uint8_t flags = 0;
  uint32_t file_index = 0;
  FileId file;
  uint32_t output_length = 0;
  std::string pattern;
  bool operator==(const QueryDirectoryRequest&) const = default;

  template <class Io>
  void fields(Io& io) {
    Whereabouts<uint16_t, uint16_t> pattern_at;
    io(info_class, flags, file_index, file, pattern_at.offset, pattern_at.length, output_length);
    io.placed_text(pattern_at, pattern);
  }
};

struct ChangeNotifyRequest {
  static constexpr uint16_t kStructureSize = 32;
  uint16_t flags = 0;
  uint32_t output_length = 0;
  FileId file;
  uint32_t filter = 0;
  bool operator==(const ChangeNotifyRequest&) const = default;

  template <class Io>
  void fields(Io& io) {
    io(flags, output_length, file, filter);
    io.reserved(4);
  }
};

// Of QUERY_INFO, QUERY_DIRECTORY and CHANGE_NOTIFY.
struct OutputReply {
  static constexpr uint16_t kStructureSize = 9;
  std::string_view output;
  bool operator==(const OutputReply&) const = default;

  template <class Io>
  void fields(Io& io) {
    Whereabouts<uint16_t, uint32_t> output_at;
    io(output_at.offset, output_at.length);
    io.placed(output_at, output);
  }
};

struct IoctlRequest {
  static constexpr uint16_t kStructureSize = 57;
  Control control{};
  FileId file;
  uint32_t max_input = 0;  // Of the reply.
  uint32_t max_output = 0;
  uint32_t flags = kIoctlFlagFsctl;
  std::string_view input;
  bool operator==(const IoctlRequest&) const = default;

  template <class Io>
  void fields(Io& io) {
    Whereabouts<uint32_t, uint32_t> input_at;
    io.reserved(2);
    io(control, file, input_at.offset, input_at.length, max_input);
    io.reserved(8);  // Where output would be, of which a request has none.
    io(max_output, flags);
    io.reserved(4);
    io.placed(input_at, input);
  }
};

struct IoctlReply {
  static constexpr uint16_t kStructureSize = 49;
  Control control{};
  FileId file;
  std::string_view output;
  bool operator==(const IoctlReply&) const = default;

  template <class Io>
  void fields(Io& io) {
    Whereabouts<uint32_t, uint32_t> input_at;
    Whereabouts<uint32_t, uint32_t> output_at;
    io.reserved(2);
    io(control, file, input_at.offset, input_at.length, output_at.offset, output_at.length);
    io.reserved(8);
    std::string_view no_input;
    io.placed(input_at, no_input);
    io.placed(output_at, output);
  }
};

}  // namespace kyanite::smb
