#include "drive/sender.h"

#include <sys/uio.h>

#include <array>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "drive/limits.h"
#include "smb/frame.h"

namespace kyanite::drive {

namespace {
uint64_t bytes_of(const Outgoing& message) {
  uint64_t size = message.message.size();
  for (const auto& piece : message.data) size += os::size_of(piece);
  return size;
}

uint64_t bytes_of(const OutgoingFrame& frame) {
  uint64_t size = 0;
  for (const Outgoing& message : frame.messages) size += bytes_of(message);
  return size;
}

bool has_files(const OutgoingFrame& frame) {
  for (const Outgoing& message : frame.messages) {
    for (const auto& piece : message.data) {
      if (std::holds_alternative<os::FileSlice>(piece)) return true;
    }
  }
  return false;
}

// The bytes of a file take the place of where they are. False when they cannot be read.
bool load(os::Bytes& piece) {
  const auto* slice = std::get_if<os::FileSlice>(&piece);
  if (slice == nullptr) return true;
  Buffer bytes(slice->length);
  bytes.resize(slice->length);
  const auto got = slice->file->read_at(bytes.data(), bytes.size(), slice->offset);
  if (!got || *got != slice->length) return false;
  piece = std::move(bytes);
  return true;
}

// What was to be sent cannot be read: the client is told so.
void make_error(Outgoing& message) {
  smb::Header header;
  smb::Reader reader(message.message);
  reader(header);
  header.status = smb::Status::kDataError;
  message.message = smb::encode(header, smb::ErrorReply());
  message.data.clear();
}

// Of a chain, whose messages are padded behind their data.
void append_data(Outgoing& message) {
  for (const auto& piece : message.data) message.message += std::get<Buffer>(piece).view();
  message.data.clear();
}

std::vector<std::string_view> data_views(const Outgoing& message) {
  std::vector<std::string_view> views;
  views.reserve(message.data.size());
  for (const auto& piece : message.data) views.push_back(std::get<Buffer>(piece).view());
  return views;
}

// Messages as they are before they are signed or encrypted.
void assemble(OutgoingFrame& frame) {
  for (Outgoing& message : frame.messages) {
    for (auto& piece : message.data) {
      if (load(piece)) continue;
      make_error(message);
      break;
    }
  }
  if (frame.messages.size() == 1) return;
  std::vector<std::string> texts;
  for (Outgoing& message : frame.messages) {
    append_data(message);
    texts.push_back(std::move(message.message));
  }
  smb::link_chain(texts);
  for (size_t i = 0; i < texts.size(); ++i) frame.messages[i].message = std::move(texts[i]);
}

void sign(OutgoingFrame& frame) {
  for (Outgoing& message : frame.messages) {
    if (message.signed_by != nullptr)
      message.signed_by->signer.sign(message.message, data_views(message));
  }
}

std::vector<std::string_view> all_views(const OutgoingFrame& frame) {
  std::vector<std::string_view> views;
  for (const Outgoing& message : frame.messages) {
    views.push_back(message.message);
    for (const auto view : data_views(message)) views.push_back(view);
  }
  return views;
}

// The encrypted frame behind its prefix; nothing when it is not encrypted.
Buffer prepare(OutgoingFrame& frame) {
  assemble(frame);
  if (frame.sealed_by == nullptr) {
    sign(frame);
    return {};
  }
  const size_t plain = bytes_of(frame);
  const size_t sealed = plain + smb::kTransformBytes;
  Buffer bytes(smb::kPrefixBytes + sealed);
  const auto prefix = smb::make_prefix(sealed);
  bytes.append({prefix.data(), prefix.size()});
  bytes.resize(smb::kPrefixBytes + sealed);
  frame.sealed_by->sealer->seal(all_views(frame), bytes.data() + smb::kPrefixBytes);
  return bytes;
}
}  // namespace

Sender::~Sender() { CHECK(!running_); }

void Sender::send(OutgoingFrame frame) {
  if (broken_) return;
  queue_.push_back(std::move(frame));
  if (!running_) run();
}

Detached Sender::run() {
  running_ = true;
  while (!queue_.empty() && !broken_) {
    OutgoingFrame frame = std::move(queue_.front());
    queue_.pop_front();
    bool sent = false;
    try {
      sent = co_await send_one(std::move(frame));
    } catch (const std::bad_alloc&) {
    }
    if (!sent) {
      broken_ = true;
      queue_.clear();
      carrier_.cut();
    }
    if (on_progress) on_progress();
  }
  running_ = false;
  if (drained_ != nullptr) std::exchange(drained_, nullptr)->set(true);
}

Task<bool> Sender::send_one(OutgoingFrame frame) {
  Buffer sealed;
  if (bytes_of(frame) > kInlineCryptoBytes || has_files(frame)) {
    auto work = [&frame] { return prepare(frame); };
    sealed = co_await workers_.run(work);
  } else {
    sealed = prepare(frame);
  }
  if (!sealed.empty()) {
    iovec whole{sealed.data(), sealed.size()};
    co_return co_await carrier_.write({&whole, 1});
  }
  auto prefix = smb::make_prefix(bytes_of(frame));
  std::vector<iovec> pieces;
  pieces.push_back({prefix.data(), prefix.size()});
  for (const std::string_view view : all_views(frame))
    pieces.push_back({const_cast<char*>(view.data()), view.size()});  // Only read.
  co_return co_await carrier_.write(pieces);
}

Task<void> Sender::drain() {
  if (!running_) co_return;
  Pending<bool> drained;
  drained_ = &drained;
  co_await drained;
}

}  // namespace kyanite::drive
