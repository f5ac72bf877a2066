#include "transfer/document.h"

#include <utility>
#include <vector>

#include "base/executor.h"
#include "service/storage.h"

namespace kyanite::transfer {

namespace {

// Sent at once, first and later. Each time wakes the client, which costs more than it gains by
// beginning early; but a document should not take much memory.
constexpr size_t kFirstBytes = kChunkBytes;
constexpr size_t kBytes = 4 * kChunkBytes - 4 * kPageBytes;  // With the last entry, one piece.

// A document that is being written.
class Writing {
 public:
  Writing(const service::Call& call, std::unique_ptr<const Document> document)
      : document_(std::move(document)),
        snapshot_(call.store().snapshot()),
        deadline_(call.deadline) {
    document_->open(xml_);
  }

  bool ended() const { return progress_.ended; }
  // Goes on until so many bytes are written, or the end is. A page that takes too long ends early,
  // with a marker, as pages may.
  Task<store::Result<std::vector<Buffer>>> next(size_t bytes) {
    while (!ended() && xml_.bytes() < bytes) {
      const auto mark = xml_.mark();
      auto written = co_await write_part(bytes, mark);
      if (written) continue;
      const bool may_end_early =
          written.error() == store::Error::kTimeout || written.error() == store::Error::kBusy;
      if (progress_.next.empty() || !may_end_early) co_return written.error();
      xml_.rewind(mark);
      progress_.ended = true;
      document_->close(xml_, progress_);
    }
    co_return xml_.take_pieces();
  }

 private:
  Task<store::Result<void>> write_part(size_t bytes, wire::XmlWriter::Mark mark) {
    if (deadline_.over()) co_return store::Error::kTimeout;
    Progress reached;
    const store::Look look = [&](const store::View& view) {
      xml_.rewind(mark);  // A look may run twice.
      return write({view, xml_, bytes}, reached);
    };
    if (auto looked = co_await snapshot_->look(look); !looked) co_return looked.error();
    progress_ = std::move(reached);
    co_return store::Result<void>();
  }
  store::Result<void> write(const Part& part, Progress& reached) const {
    auto written = document_->write_entries(part, progress_);
    if (!written) return written.error();
    reached = std::move(*written);
    if (reached.ended) document_->close(part.xml, reached);
    return {};
  }

  const std::unique_ptr<const Document> document_;
  const std::unique_ptr<store::Snapshot> snapshot_;
  const Deadline deadline_;
  wire::XmlWriter xml_;
  Progress progress_;
};

class DocumentStream final : public http::BodyStream {
 public:
  DocumentStream(std::unique_ptr<Writing> writing, std::vector<Buffer> begun)
      : writing_(std::move(writing)), pieces_(std::move(begun)) {}

  Task<Result<os::Bytes, http::StreamError>> next() override {
    while (next_ == pieces_.size()) {
      if (writing_->ended()) co_return os::Bytes(Buffer());
      pieces_.clear();
      next_ = 0;
      auto written = co_await writing_->next(kBytes);
      if (!written) co_return http::StreamError::kFailed;
      pieces_ = std::move(*written);
    }
    co_return os::Bytes(std::move(pieces_[next_++]));
  }

 private:
  const std::unique_ptr<Writing> writing_;
  std::vector<Buffer> pieces_;
  size_t next_ = 0;
};

}  // namespace

Task<wire::Result<http::Reply>> reply_with_document(service::Call& call,
                                                    std::unique_ptr<const Document> document) {
  auto writing = std::make_unique<Writing>(call, std::move(document));
  auto begun = co_await writing->next(kFirstBytes);
  if (!begun) co_return service::storage_error(begun.error());
  http::Reply reply(200);
  reply.header("Content-Type", "application/xml");
  if (writing->ended() && begun->size() == 1) {
    reply.body = std::string(begun->front().view());
    co_return reply;
  }
  if (writing->ended()) {
    uint64_t length = 0;
    for (const auto& piece : *begun) length += piece.size();
    reply.stream_length = length;
  }
  reply.body = std::make_unique<DocumentStream>(std::move(writing), std::move(*begun));
  co_return reply;
}

}  // namespace kyanite::transfer
