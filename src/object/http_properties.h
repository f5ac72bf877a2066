// Properties of a blob or file that clients set and get back as HTTP headers.
#pragma once

#include <string>

namespace kyanite::object {

struct HttpProperties {
  std::string content_type;
  std::string content_encoding;
  std::string content_language;
  std::string content_disposition;
  std::string cache_control;
  std::string content_md5;  // 16 bytes, or empty
  template <class Io>
  void fields(Io& io) {
    io(1, content_type);
    io(2, content_encoding);
    io(3, content_language);
    io(4, content_disposition);
    io(5, cache_control);
    io(6, content_md5);
  }
};

}  // namespace kyanite::object
