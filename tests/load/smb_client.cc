#include "smb_client.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <openssl/evp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace kyanite::load {

namespace {

constexpr uint16_t kAskedCredits = 512;
// Larger replies are not read as a whole: there is nothing but what a file has in them.
constexpr size_t kMostWhole = 128 * 1024;
constexpr size_t kBeginning = 512;
constexpr size_t kReadAtOnce = 16 * 1024;

int connect_socket(uint16_t port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int one = 1;
  if (fd < 0 || connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one) != 0) {
    std::perror("connect");
    std::exit(EXIT_FAILURE);
  }
  return fd;
}

}  // namespace

SmbClient::SmbClient(uint16_t port, const Account& account) : socket_(connect_socket(port)) {
  asked_credits = kAskedCredits;
  ntlm.user = account.user;
  ntlm.password = account.password;
  const auto answer = negotiate();
  if (!answer || answer->status() != smb::Status::kSuccess) give_up("NEGOTIATE failed");
  // Where nothing may be encrypted there is no cipher.
  const bool ciphers = cipher == smb::CipherId::kGcm128 || cipher == smb::CipherId::kNone;
  if (dialect != smb::Dialect::kSmb311 || signing != smb::SigningId::kGmac || !ciphers)
    give_up("the server does not speak 3.1.1 with AES-128-GMAC and AES-128-GCM");
  const auto last = log_on();
  if (!last || last->status() != smb::Status::kSuccess)
    give_up("the logon failed: " + (last ? smb::name(last->status()) : "no answer"));
  sealed = (last->body<smb::SessionSetupReply>().flags & smb::session_flag::kEncryptData) != 0;
  const auto connected = connect("\\\\127.0.0.1\\" + account.share);
  if (!connected) give_up("TREE_CONNECT was not answered");
  check(*connected, smb::Status::kSuccess);
  beginning_.reset(EVP_CIPHER_CTX_new());
}

SmbClient::~SmbClient() { ::close(socket_); }

void SmbClient::give_up(const std::string& why) const {
  std::fprintf(stderr, "%s\n", why.c_str());
  std::exit(EXIT_FAILURE);
}

void SmbClient::check(const drive::Received& received, smb::Status status) const {
  if (received.status() != status)
    give_up(smb::name(received.header.command) + ": " + smb::name(received.status()));
  if (sealed ? !received.sealed : !received.signature_right)
    give_up(smb::name(received.header.command) + ": the reply is not protected");
}

std::vector<drive::Received> SmbClient::converse(std::string_view frame) {
  send_blocking(frame);
  while (true) {
    auto answer = take_apart(receive_blocking());
    for (const drive::Received& one : answer) granted_ += one.header.credits;
    if (answer.size() != 1 || answer[0].status() != smb::Status::kPending) return answer;
  }
}

smb::FileId SmbClient::open(const smb::CreateRequest& request) {
  return demand(smb::Command::kCreate, request).body<smb::CreateReply>().file;
}

void SmbClient::close(const smb::FileId& file) {
  smb::CloseRequest request;
  request.file = file;
  demand(smb::Command::kClose, request);
}

void SmbClient::send_blocking(std::string_view frame) const {
  const auto prefix = smb::make_prefix(frame.size());
  std::string bytes(prefix.data(), prefix.size());
  bytes += frame;
  for (size_t at = 0; at < bytes.size();) {
    const ssize_t sent = ::send(socket_, bytes.data() + at, bytes.size() - at, MSG_NOSIGNAL);
    if (sent <= 0) give_up("the server is gone");
    at += static_cast<size_t>(sent);
  }
}

std::string SmbClient::receive_blocking() const {
  const auto exactly = [this](char* to, size_t bytes) {
    if (recv(socket_, to, bytes, MSG_WAITALL) != static_cast<ssize_t>(bytes))
      give_up("the server is gone");
  };
  std::array<char, smb::kPrefixBytes> bytes{};
  exactly(bytes.data(), bytes.size());
  const smb::Prefix prefix = smb::read_prefix(bytes, smb::kMaxFrameBytes);
  if (prefix.kind != smb::Prefix::kFrame) give_up("not a frame of SMB");
  std::string frame(prefix.bytes, '\0');
  exactly(frame.data(), frame.size());
  return frame;
}

void SmbClient::set_blocking(bool blocking) const {
  if (fcntl(socket_, F_SETFL, blocking ? 0 : O_NONBLOCK) != 0) give_up("fcntl");
}

void SmbClient::send(std::vector<std::string> messages) {
  sent_.emplace(next_id - charge, Clock::now());
  const std::string frame = protect(std::move(messages));
  const auto prefix = smb::make_prefix(frame.size());
  if (out_at_ == out_.size()) {
    out_.clear();
    out_at_ = 0;
  }
  out_.append(prefix.data(), prefix.size());
  out_ += frame;
}

bool SmbClient::flush() {
  while (out_at_ < out_.size()) {
    const ssize_t written =
        ::send(socket_, out_.data() + out_at_, out_.size() - out_at_, MSG_NOSIGNAL);
    if (written < 0) return errno == EAGAIN;
    out_at_ += static_cast<size_t>(written);
  }
  return true;
}

// Until so many bytes of the frame are here; false when they are not yet.
bool SmbClient::fill(size_t bytes) {
  while (in_.size() - in_at_ < bytes) {
    if (in_at_ > 0) {
      in_.erase(0, in_at_);
      in_at_ = 0;
    }
    const size_t before = in_.size();
    in_.resize(std::max(before + kReadAtOnce, bytes));
    const ssize_t got = recv(socket_, in_.data() + before, in_.size() - before, 0);
    in_.resize(before + static_cast<size_t>(std::max<ssize_t>(got, 0)));
    if (got > 0) continue;
    gone_ = got == 0 || errno != EAGAIN;
    return false;
  }
  return true;
}

bool SmbClient::drop_rest() {
  while (to_drop_ > 0) {
    const ssize_t dropped = recv(socket_, nullptr, to_drop_, MSG_TRUNC);
    if (dropped <= 0) {
      gone_ = dropped == 0 || errno != EAGAIN;
      return false;
    }
    to_drop_ -= static_cast<size_t>(dropped);
  }
  return true;
}

std::optional<std::string_view> SmbClient::next_frame() {
  if (frame_bytes_ == 0) {
    if (!fill(smb::kPrefixBytes)) return {};
    std::array<char, smb::kPrefixBytes> bytes{};
    std::memcpy(bytes.data(), in_.data() + in_at_, bytes.size());
    const smb::Prefix prefix = smb::read_prefix(bytes, smb::kMaxFrameBytes);
    if (prefix.kind != smb::Prefix::kFrame) give_up("not a frame of SMB");
    frame_bytes_ = prefix.bytes;
  }
  if (held_ == 0) {
    const bool whole = frame_bytes_ <= kMostWhole;
    if (!fill(smb::kPrefixBytes + (whole ? frame_bytes_ : kBeginning))) return {};
    held_ = std::min(frame_bytes_, in_.size() - in_at_ - smb::kPrefixBytes);
    to_drop_ = frame_bytes_ - held_;
  }
  if (!drop_rest()) return {};
  return open_frame();
}

void SmbClient::forget_frame() {
  in_at_ += smb::kPrefixBytes + held_;
  frame_bytes_ = held_ = 0;
}

// The key stream of AES-GCM is that of AES in counter mode from 2 on.
std::optional<std::string_view> SmbClient::open_frame() {
  char* const frame = in_.data() + in_at_ + smb::kPrefixBytes;
  if (!sealed) return std::string_view(frame, held_);
  if (held_ == frame_bytes_) {
    const auto plain = opener->open({frame, held_});
    if (!plain) give_up("a reply that the server did not encrypt");
    return plain;
  }
  constexpr size_t kNonceAt = 20;
  unsigned char counter[16] = {};
  std::memcpy(counter, frame + kNonceAt, 12);
  counter[15] = 2;
  auto* const bytes = reinterpret_cast<unsigned char*>(frame) + smb::kTransformBytes;
  int written = 0;
  CHECK(EVP_EncryptInit_ex(beginning_.get(), EVP_aes_128_ctr(), nullptr,
                           keys.server_to_client.data(), counter) == 1);
  CHECK(EVP_EncryptUpdate(beginning_.get(), bytes, &written, bytes, kBeginning / 2) == 1);
  return std::string_view(frame + smb::kTransformBytes, kBeginning / 2);
}

}  // namespace kyanite::load
