#include "http/chunked.h"

#include "base/check.h"
#include "base/hex.h"
#include "http/chars.h"

namespace kyanite::http {

size_t ChunkedDecoder::feed(std::string_view bytes) {
  size_t taken = 0;
  while (taken < bytes.size() && state_ == State::kFraming) take(bytes[taken++]);
  return taken;
}

void ChunkedDecoder::pass_data(uint64_t count) {
  CHECK(state_ == State::kData && count <= data_left_);
  data_left_ -= count;
  if (data_left_ > 0) return;
  state_ = State::kFraming;
  step_ = Step::kDataCr;
}

void ChunkedDecoder::expect(bool as_expected, Step next) {
  if (as_expected) {
    step_ = next;
  } else {
    state_ = State::kError;
  }
}

void ChunkedDecoder::take(char byte) {
  switch (step_) {
    case Step::kSize:
    case Step::kExtension:
      return take_size(byte);
    case Step::kSizeLf:
      if (byte != '\n') {
        state_ = State::kError;
        return;
      }
      return end_size_line();
    case Step::kDataCr:
      return expect(byte == '\r', Step::kDataLf);
    case Step::kDataLf:
      digits_ = 0;
      line_bytes_ = 0;
      return expect(byte == '\n', Step::kSize);
    case Step::kTrailerStart:
    case Step::kTrailer:
    case Step::kTrailerLf:
    case Step::kEndLf:
      return take_trailer(byte);
  }
}

void ChunkedDecoder::take_size(char byte) {
  if (++line_bytes_ >= kMaxChunkLineBytes) {  // The LF is still to come.
    state_ = State::kError;
    return;
  }
  if (byte == '\r') return expect(digits_ > 0, Step::kSizeLf);
  if (step_ == Step::kExtension) return expect(!is_control(byte), Step::kExtension);
  const int digit = hex_digit(byte);
  if (digit < 0) {
    // Blanks before the semicolon are allowed to senders of old; anything else is not a size.
    return expect(digits_ > 0 && (byte == ';' || byte == ' ' || byte == '\t'), Step::kExtension);
  }
  ++digits_;
  if (data_left_ > kMaxBodyBytes >> 4) {
    state_ = State::kError;
    return;
  }
  data_left_ = data_left_ << 4 | static_cast<uint64_t>(digit);
}

void ChunkedDecoder::end_size_line() {
  if (data_left_ > 0) {
    state_ = State::kData;
    return;
  }
  line_bytes_ = 0;
  step_ = Step::kTrailerStart;
}

void ChunkedDecoder::take_trailer(char byte) {
  if (++line_bytes_ > kMaxTrailerBytes) {
    state_ = State::kError;
    return;
  }
  switch (step_) {
    case Step::kTrailerStart:
      if (byte == '\r') {
        step_ = Step::kEndLf;
        return;
      }
      return expect(is_token_char(byte), Step::kTrailer);
    case Step::kTrailer:
      if (byte == '\r') {
        step_ = Step::kTrailerLf;
        return;
      }
      return expect(!is_control(byte), Step::kTrailer);
    case Step::kTrailerLf:
      return expect(byte == '\n', Step::kTrailerStart);
    default:
      state_ = byte == '\n' ? State::kDone : State::kError;
  }
}

}  // namespace kyanite::http
