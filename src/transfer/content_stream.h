// The bytes of a blob or file as the body of a reply.
#pragma once

#include <cstdint>
#include <memory>

#include "content/content.h"
#include "http/message.h"
#include "service/call.h"

namespace kyanite::transfer {

class ContentStream final : public http::BodyStream {
 public:
  // Ends, as failed, when it is over.
  ContentStream(std::unique_ptr<content::Reader> reader, store::Hold hold, Deadline deadline)
      : reader_(std::move(reader)), hold_(std::move(hold)), deadline_(deadline) {}

  Task<Result<os::Bytes, http::StreamError>> next() override;

 private:
  std::unique_ptr<content::Reader> reader_;
  store::Hold hold_;  // The bytes stay until the last one is sent.
  const Deadline deadline_;
};

// Sends `length` bytes as a structured message, with checksums of every part.
void set_structured_body(http::Reply& reply, const service::Call& call,
                         std::unique_ptr<content::Reader> reader, uint64_t length);

}  // namespace kyanite::transfer
