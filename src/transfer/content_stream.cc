#include "transfer/content_stream.h"

#include <algorithm>
#include <string>
#include <utility>

#include "service/deadline.h"
#include "wire/structured.h"

namespace kyanite::transfer {

namespace {

using Next = Result<os::Bytes, http::StreamError>;

class StructuredStream final : public http::BodyStream {
 public:
  StructuredStream(const service::Call& call, std::unique_ptr<content::Reader> reader,
                   uint64_t length)
      : reader_(std::move(reader)),
        hold_(call.hold),
        workers_(call.context.workers),
        deadline_(service::download_deadline(call, length)),
        writer_(length) {}

  uint64_t length() const { return writer_.message_length(); }

  Task<Next> next() override {
    if (deadline_.over()) co_return http::StreamError::kFailed;
    if (const std::string frame = writer_.before_content(); !frame.empty())
      co_return os::Bytes(Buffer::copy_of(frame));
    if (writer_.segment_left() == 0) {
      // The end of a segment, or of everything: then there is nothing behind it.
      co_return os::Bytes(Buffer::copy_of(writer_.after_content()));
    }
    if (rest_.empty()) {
      auto bytes = co_await reader_->next(false);
      if (!bytes) co_return http::StreamError::kFailed;
      rest_ = std::move(std::get<Buffer>(*bytes));
      if (rest_.empty()) co_return http::StreamError::kFailed;
    }
    Buffer part = std::exchange(rest_, Buffer());
    if (part.size() > writer_.segment_left()) {
      // A chunk that reaches into the next segment.
      const auto inside = static_cast<size_t>(writer_.segment_left());
      rest_ = Buffer::copy_of(part.view().substr(inside));
      part.resize(inside);
    }
    co_await workers_.run([&] {
      writer_.add(part.view());
      return true;
    });
    co_return os::Bytes(std::move(part));
  }

 private:
  std::unique_ptr<content::Reader> reader_;
  store::Hold hold_;
  Workers& workers_;
  const Deadline deadline_;
  wire::StructuredWriter writer_;
  Buffer rest_;  // Read, but of the next segment.
};

}  // namespace

Task<Next> ContentStream::next() {
  if (deadline_.over()) co_return http::StreamError::kFailed;
  auto bytes = co_await reader_->next(true);
  if (!bytes) co_return http::StreamError::kFailed;
  co_return std::move(*bytes);
}

void set_structured_body(http::Reply& reply, const service::Call& call,
                         std::unique_ptr<content::Reader> reader, uint64_t length) {
  auto stream = std::make_unique<StructuredStream>(call, std::move(reader), length);
  reply.stream_length = stream->length();
  reply.body = std::move(stream);
}

}  // namespace kyanite::transfer
