#include "service/document.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/executor.h"
#include "service/storage.h"

namespace kyanite::service {

namespace {

// Waking the connection for less is not worth it. Full pieces are a little less than a chunk.
constexpr size_t kLeastBytes = kChunkBytes / 2;

// A document on its way from the thread that writes it, which never waits, to the connection that
// sends it. Each holds a share; whoever comes last frees it.
class Document {
 public:
  // What has come of it since the last look.
  struct News {
    std::vector<Buffer> pieces;
    std::optional<store::Result<void>> end;  // Once it is written, or failed.
  };

  void add(Buffer piece) {
    change([&] {
      bytes_ += piece.size();
      news_.pieces.push_back(std::move(piece));
    });
  }
  void end(std::vector<Buffer> rest, store::Result<void> how) {
    change([&] {
      std::move(rest.begin(), rest.end(), std::back_inserter(news_.pieces));
      news_.end = how;
    });
  }

  // Waits until there is enough to send. Not to be called after the end.
  Task<News> next() {
    Pending<bool> arrived;
    if (must_wait_for(arrived)) co_await arrived;
    std::lock_guard lock(mutex_);
    bytes_ = 0;
    co_return std::exchange(news_, News());
  }

 private:
  template <class Change>
  void change(Change change) {
    std::unique_lock lock(mutex_);
    change();
    if (!is_enough()) return;
    Pending<bool>* const waiting = std::exchange(waiting_, nullptr);
    lock.unlock();
    if (waiting != nullptr) waiting->set(true);
  }
  bool must_wait_for(Pending<bool>& arrived) {
    std::lock_guard lock(mutex_);
    if (is_enough()) return false;
    waiting_ = &arrived;
    return true;
  }
  bool is_enough() const { return news_.end || bytes_ >= kLeastBytes; }

  std::mutex mutex_;
  News news_;
  size_t bytes_ = 0;                  // of the pieces in it
  Pending<bool>* waiting_ = nullptr;  // Who waits for more.
};

class DocumentStream final : public http::BodyStream {
 public:
  DocumentStream(std::shared_ptr<Document> document, Document::News begun)
      : document_(std::move(document)), news_(std::move(begun)) {}

  Task<Result<os::Bytes, http::StreamError>> next() override {
    while (next_ == news_.pieces.size()) {
      if (news_.end && !news_.end->ok()) co_return http::StreamError::kFailed;
      if (news_.end) co_return os::Bytes(Buffer());
      news_ = co_await document_->next();
      next_ = 0;
    }
    co_return os::Bytes(std::move(news_.pieces[next_++]));
  }

 private:
  const std::shared_ptr<Document> document_;
  Document::News news_;
  size_t next_ = 0;  // of its pieces
};

Task<void> write_document(store::Store& store, std::shared_ptr<Document> document,
                          WriteDocument write) {
  wire::XmlWriter xml([&](Buffer piece) { document->add(std::move(piece)); });
  auto written = co_await store.read([&](const store::View& view) { return write(view, xml); });
  document->end(written ? xml.take_pieces() : std::vector<Buffer>(), written);
}

}  // namespace

Task<wire::Result<http::Reply>> reply_with_document(Call& call, WriteDocument write) {
  auto document = std::make_shared<Document>();
  Executor::start_apart(write_document(call.store(), document, std::move(write)));
  auto begun = co_await document->next();
  if (begun.end && !begun.end->ok()) co_return storage_error(begun.end->error());
  http::Reply reply(200);
  reply.header("Content-Type", "application/xml");
  if (begun.end && begun.pieces.size() == 1) {
    reply.body = std::string(begun.pieces.front().view());
    co_return reply;
  }
  if (begun.end) {
    uint64_t length = 0;
    for (const auto& piece : begun.pieces) length += piece.size();
    reply.stream_length = length;
  }
  reply.body = std::make_unique<DocumentStream>(std::move(document), std::move(begun));
  co_return reply;
}

}  // namespace kyanite::service
