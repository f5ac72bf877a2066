// Takes the framing off a chunked body (RFC 9112, 7.1), as bytes arrive. Data bytes never pass
// through the decoder: it says how many come next, so that they can be received where they are
// needed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "http/limits.h"

namespace kyanite::http {

class ChunkedDecoder {
 public:
  enum class State {
    kFraming,  // Feed bytes.
    kData,     // data_left() bytes of data come next.
    kDone,     // The body and its trailer have ended.
    kError,
  };

  State state() const { return state_; }

  // Reads framing and returns how many bytes it took. Stops where data begins, behind the end, or
  // at an error; takes everything otherwise. Trailers and extensions are checked for length and
  // discarded.
  size_t feed(std::string_view bytes);

  // Bytes of data still to come in this chunk, at least one in kData.
  uint64_t data_left() const { return data_left_; }
  // That many data bytes have gone by.
  void pass_data(uint64_t count);

 private:
  enum class Step {
    kSize,
    kExtension,
    kSizeLf,
    kDataCr,
    kDataLf,
    kTrailerStart,
    kTrailer,
    kTrailerLf,
    kEndLf,
  };

  void take(char byte);
  void take_size(char byte);
  void take_trailer(char byte);
  void end_size_line();
  void expect(bool as_expected, Step next);

  State state_ = State::kFraming;
  Step step_ = Step::kSize;
  uint64_t data_left_ = 0;
  size_t digits_ = 0;
  size_t line_bytes_ = 0;  // Of the size line, or of the whole trailer.
};

}  // namespace kyanite::http
