#include "drive/sender.h"

#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "drive/limits.h"
#include "smb/file_io.h"
#include "smb/frame.h"

namespace kyanite::drive {

namespace {
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

// What is longer stays in its file, from which it is sent without another copy. Files of content do
// not change where they were written.
constexpr uint64_t kSentFromFileBytes = kInlineCryptoBytes;

bool is_sent_from_file(const os::Bytes& piece) {
  const auto* slice = std::get_if<os::FileSlice>(&piece);
  return slice != nullptr && slice->length > kSentFromFileBytes;
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

void load_data(Outgoing& message) {
  for (auto& piece : message.data) {
    if (load(piece)) continue;
    make_error(message);
    return;
  }
}

// Of a chain, whose messages are padded behind their data.
void append_data(Outgoing& message) {
  for (const auto& piece : message.data) message.message += std::get<Buffer>(piece).view();
  message.data.clear();
}

// The messages of a chain as they are before they are signed or encrypted.
void link(OutgoingFrame& frame) {
  std::vector<std::string> texts;
  for (Outgoing& message : frame.messages) {
    load_data(message);
    append_data(message);
    texts.push_back(std::move(message.message));
  }
  smb::link_chain(texts);
  for (size_t i = 0; i < texts.size(); ++i) frame.messages[i].message = std::move(texts[i]);
}

// The data of a message as it is signed: of what is sent from files some at a time, in the same
// memory, which a processor's cache holds.
class PiecesToSign {
 public:
  explicit PiecesToSign(std::vector<os::Bytes>& data) : data_(data) {}

  std::optional<std::string_view> next() {
    if (failed_ || next_ == data_.size()) return {};
    os::Bytes& piece = data_[next_];
    if (is_sent_from_file(piece)) return some_of(std::get<os::FileSlice>(piece));
    ++next_;
    if (load(piece)) return std::get<Buffer>(piece).view();
    failed_ = true;
    return {};
  }
  bool failed() const { return failed_; }

 private:
  std::optional<std::string_view> some_of(const os::FileSlice& slice) {
    if (bytes_.capacity() == 0) bytes_ = Buffer(kChunkBytes);
    const auto length =
        static_cast<size_t>(std::min<uint64_t>(slice.length - done_, bytes_.capacity()));
    const auto got = slice.file->read_at(bytes_.data(), length, slice.offset + done_);
    failed_ = !got || *got != length;
    if (failed_) return {};
    done_ += length;
    if (done_ == slice.length) {
      done_ = 0;
      ++next_;
    }
    return std::string_view(bytes_.data(), length);
  }

  std::vector<os::Bytes>& data_;
  size_t next_ = 0;
  uint64_t done_ = 0;  // Of the slice at hand.
  Buffer bytes_;
  bool failed_ = false;
};

void sign(Outgoing& message) {
  smb::Signer& signer = message.signed_by->signer;
  PiecesToSign pieces(message.data);
  signer.sign(message.message, [&pieces] { return pieces.next(); });
  if (!pieces.failed()) return;
  make_error(message);
  signer.sign(message.message);
}

// The pieces of a frame for encryption to `out`. What is in files is read to its place there.
class PiecesInPlace {
 public:
  PiecesInPlace(OutgoingFrame& frame, char* out) : frame_(frame), to_(out) {}

  std::optional<std::string_view> next() {
    while (message_ < frame_.messages.size()) {
      Outgoing& message = frame_.messages[message_];
      if (piece_ > message.data.size()) {
        ++message_;
        piece_ = 0;
        continue;
      }
      const size_t piece = piece_++;
      if (piece == 0) return passed(message.message);
      os::Bytes& bytes = message.data[piece - 1];
      const auto* slice = std::get_if<os::FileSlice>(&bytes);
      if (slice == nullptr) return passed(std::get<Buffer>(bytes).view());
      const auto got = slice->file->read_at(to_, slice->length, slice->offset);
      if (!got || *got != slice->length) {
        make_error(message);
        failed_ = true;
        return {};
      }
      return passed({to_, slice->length});
    }
    return {};
  }
  bool failed() const { return failed_; }

 private:
  std::string_view passed(std::string_view bytes) {
    to_ += bytes.size();
    return bytes;
  }

  OutgoingFrame& frame_;
  char* to_;
  size_t message_ = 0;
  size_t piece_ = 0;  // 0: the message itself; then its data.
  bool failed_ = false;
};

// Where in memory an encrypted frame begins. The data of a READ, which is what large frames have,
// is read to whole pages then, which some processors do in a third of the time (base/buffer.h).
size_t begin_of_sealed(const OutgoingFrame& frame) {
  if (!has_files(frame)) return 0;
  return kPageBytes - smb::ReadReply::kDataOffset - smb::kTransformBytes - smb::kPrefixBytes;
}

// The encrypted frame behind its prefix, from `begin` on.
Buffer seal(OutgoingFrame& frame, size_t begin) {
  while (true) {
    const size_t plain = bytes_of(frame);
    const size_t sealed = plain + smb::kTransformBytes;
    Buffer bytes(begin + smb::kPrefixBytes + sealed);
    const auto prefix = smb::make_prefix(sealed);
    bytes.resize(begin);
    bytes.append({prefix.data(), prefix.size()});
    bytes.resize(begin + smb::kPrefixBytes + sealed);
    char* const out = bytes.data() + begin + smb::kPrefixBytes;
    PiecesInPlace pieces(frame, out + smb::kTransformBytes);
    frame.sealed_by->sealer->seal(
        plain, [&pieces] { return pieces.next(); }, out);
    if (!pieces.failed()) return bytes;
  }
}

void add(std::vector<iovec>& pieces, std::string_view view) {
  pieces.push_back({const_cast<char*>(view.data()), view.size()});  // Only read.
}

// Takes on what follows in the same file, too.
bool is_next(const os::FileSlice& slice, const os::Bytes& piece) {
  const auto* next = std::get_if<os::FileSlice>(&piece);
  return next != nullptr && next->file == slice.file && next->offset == slice.offset + slice.length;
}
}  // namespace

void Sender::prepare(Prepared& prepared) {
  OutgoingFrame& frame = prepared.frame;
  if (frame.messages.size() > 1) link(frame);
  if (frame.sealed_by != nullptr) {
    prepared.begin = begin_of_sealed(frame);
    prepared.sealed = seal(frame, prepared.begin);
    frame.messages.clear();  // With what they hold.
    return;
  }
  for (Outgoing& message : frame.messages) {
    if (message.signed_by == nullptr) {
      load_data(message);
    } else {
      sign(message);
    }
  }
}

Sender::~Sender() { CHECK(!preparing_ && !writing_); }

void Sender::send(OutgoingFrame frame) {
  if (broken_) return;
  queue_.push_back(std::move(frame));
  if (!preparing_) prepare_all();
}

Detached Sender::prepare_all() {
  preparing_ = true;
  while (!queue_.empty()) {
    if (ready_.size() >= kFramesReady) {
      Pending<bool> room;
      room_ = &room;
      co_await room;
      continue;
    }
    Prepared prepared{std::move(queue_.front()), {}, 0};
    queue_.pop_front();
    const OutgoingFrame& frame = prepared.frame;
    // Where it is done, since a worker hands on no exceptions.
    const auto work = [&prepared] {
      try {
        prepare(prepared);
        return true;
      } catch (const std::bad_alloc&) {
        return false;
      }
    };
    const bool large = bytes_of(frame) > kInlineCryptoBytes || has_files(frame);
    bool done = false;
    try {
      done = large ? co_await workers_.run(work) : work();
    } catch (const std::bad_alloc&) {  // There is none for handing it over, either.
    }
    if (!done) give_up();
    if (broken_) {
      prepared = {};
      if (on_progress) on_progress();
      break;
    }
    ready_.push_back(std::move(prepared));
    if (!writing_) write_all();
  }
  preparing_ = false;
  look_if_drained();
}

Detached Sender::write_all() {
  writing_ = true;
  while (!ready_.empty()) {
    Prepared prepared = std::move(ready_.front());
    ready_.pop_front();
    if (room_ != nullptr) std::exchange(room_, nullptr)->set(true);
    bool sent = false;
    try {
      sent = co_await write_one(std::move(prepared));
    } catch (const std::bad_alloc&) {
    }
    if (!sent) give_up();
    if (on_progress) on_progress();
  }
  writing_ = false;
  look_if_drained();
}

Task<bool> Sender::write_one(Prepared prepared) {
  if (!prepared.sealed.empty()) {
    iovec whole{prepared.sealed.data() + prepared.begin, prepared.sealed.size() - prepared.begin};
    co_return co_await carrier_.write({&whole, 1});
  }
  const auto prefix = smb::make_prefix(bytes_of(prepared.frame));
  std::vector<iovec> pieces;
  add(pieces, {prefix.data(), prefix.size()});
  for (const Outgoing& message : prepared.frame.messages) {
    add(pieces, message.message);
    for (size_t i = 0; i < message.data.size(); ++i) {
      const os::Bytes& piece = message.data[i];
      if (const auto* bytes = std::get_if<Buffer>(&piece)) {
        add(pieces, bytes->view());
        continue;
      }
      os::FileSlice slice = std::get<os::FileSlice>(piece);
      for (; i + 1 < message.data.size() && is_next(slice, message.data[i + 1]); ++i)
        slice.length += size_of(message.data[i + 1]);
      if (!pieces.empty() && !co_await carrier_.write(pieces, true)) co_return false;
      pieces.clear();
      if (!co_await carrier_.write_file(std::move(slice))) co_return false;
    }
  }
  if (pieces.empty()) co_return true;
  co_return co_await carrier_.write(pieces);
}

void Sender::give_up() {
  if (std::exchange(broken_, true)) return;
  queue_.clear();
  ready_.clear();
  if (room_ != nullptr) std::exchange(room_, nullptr)->set(true);
  carrier_.cut();
}

void Sender::look_if_drained() {
  if (preparing_ || writing_ || drained_ == nullptr) return;
  std::exchange(drained_, nullptr)->set(true);
}

Task<void> Sender::drain() {
  if (!preparing_ && !writing_) co_return;
  Pending<bool> drained;
  drained_ = &drained;
  co_await drained;
}

}  // namespace kyanite::drive
