#include <algorithm>
#include <chrono>

#include "base/bytes.h"
#include "base/random.h"
#include "transfer/body.h"
#include "upkeep/backup_list.h"
#include "upkeep/backup_place.h"
#include "upkeep/container.h"
#include "wire/query.h"

namespace kyanite::upkeep {

namespace {

constexpr size_t kBlockBytes = 4 * kPartBytes;
constexpr const char* kLock = "lock";
// The lease lasts longer than the time after which it is renewed and one request together.
constexpr std::chrono::seconds kLease{60};
constexpr std::chrono::seconds kRenewAfter{15};

std::string block_id(size_t number) {
  std::string digits = std::to_string(number);
  digits.insert(0, 8 - digits.size(), '0');
  return base64(digits);
}

class ContainerPlace final : public BackupPlace {
 public:
  explicit ContainerPlace(std::unique_ptr<Container> container)
      : container_(std::move(container)) {}
  ~ContainerPlace() override {
    if (!lease_.empty()) (void)lease("release");
  }

  std::string name() const override { return container_->name(); }

  Result<bool, std::string> has_others() override {
    auto blobs = container_->list("");
    if (!blobs) return Failure{blobs.error()};
    return std::any_of(blobs->begin(), blobs->end(), [](const auto& blob) {
      return blob.first != kBackupName && blob.first != kLock && !is_stored_name(blob.first);
    });
  }

  // A lease, so that one that was killed does not keep the next out for long.
  Outcome lock() override {
    auto made = container_->ask("PUT", kLock, "",
                                {{"x-ms-blob-type", "BlockBlob"}, {"If-None-Match", "*"}}, "");
    if (!made) return Failure{made.error()};
    const bool exists = made->status == 409 || made->status == 412;
    if (!made->ok() && !exists) return Failure{made->why()};
    lease_ = random_uuid();
    auto taken = lease("acquire");
    if (!taken) lease_.clear();
    return taken;
  }

  Result<std::optional<std::string>, std::string> read(const std::string& name) override {
    auto reply = container_->ask("GET", name, "", {}, {});
    if (!reply) return Failure{reply.error()};
    const bool is_list = name == kBackupName;
    if (is_list) list_etag_ = reply->ok() ? reply->etag : "";
    if (reply->status == 404 && reply->code != "ContainerNotFound")
      return std::optional<std::string>();
    if (!reply->ok()) return Failure{reply->why()};
    return std::optional(std::move(reply->body));
  }

  Result<std::map<std::string, uint64_t>, std::string> list() override {
    auto found = container_->list("files/");
    if (found) std::erase_if(*found, [](const auto& blob) { return !is_stored_name(blob.first); });
    return found;
  }

  Result<Copied, std::string> put(const std::string& from, const std::string& name,
                                  Pace& pace) override {
    std::string block;
    size_t blocks = 0;
    auto copied = read_parts(from, pace, [&](std::string_view part, uint64_t) -> Outcome {
      if (block.size() == kBlockBytes) {
        if (auto sent = put_block(name, blocks++, block); !sent) return sent;
        block.clear();
      }
      block.append(part);
      return {};
    });
    if (!copied) return copied;
    auto done = blocks == 0 ? put_blob(name, block) : put_block(name, blocks++, block);
    if (done && blocks > 0) done = put_block_list(name, blocks);
    if (!done) return Failure{done.error()};
    return copied;
  }

  Result<Copied, std::string> get(const std::string& name, Pace& pace,
                                  const TakePart& take) override {
    PartSum sum;
    uint64_t offset = 0;
    while (true) {
      const std::string range =
          "bytes=" + std::to_string(offset) + "-" + std::to_string(offset + kBlockBytes - 1);
      auto reply = container_->ask("GET", name, "", {{"x-ms-range", range}}, {});
      if (!reply) return Failure{reply.error()};
      if (reply->status == 416) break;  // At its end.
      if (!reply->ok()) return Failure{reply->why()};
      if (auto taken = take_parts(reply->body, offset, sum, take); !taken)
        return Failure{taken.error()};
      pace.moved(reply->body.size());
      offset += reply->body.size();
      if (reply->body.size() < kBlockBytes) break;
    }
    return sum.get();
  }

  Outcome remove(const std::string& name) override {
    auto reply = container_->ask("DELETE", name, "", {{"x-ms-delete-snapshots", "include"}}, {},
                                 [this] { return keep_lease(); });
    if (!reply) return Failure{reply.error()};
    if (!reply->ok() && reply->status != 404) return Failure{reply->why()};
    return {};
  }

  // Decided by its ETag, whatever has become of the lease.
  Outcome replace_list(std::string_view text) override {
    Container::Lines headers = blob_headers(text);
    if (list_etag_.empty()) {
      headers.emplace_back("If-None-Match", "*");
    } else {
      headers.emplace_back("If-Match", list_etag_);
    }
    const std::string name(kBackupName);
    auto reply = container_->ask("PUT", name, "", headers, text, [this] { return keep_lease(); });
    if (!reply) return Failure{reply.error()};
    if (reply->ok()) return {};
    if (reply->status != 412 && reply->status != 409) return Failure{reply->why()};
    // An earlier try may have arrived, and only its answer not.
    auto found = read(name);
    if (found && *found && **found == text) return {};
    return Failure{std::string("another backup to it was made meanwhile")};
  }

 private:
  static Outcome take_parts(std::string_view bytes, uint64_t offset, PartSum& sum,
                            const TakePart& take) {
    for (size_t at = 0; at < bytes.size(); at += kPartBytes) {
      const auto part = bytes.substr(at, kPartBytes);
      sum.add(part);
      if (auto taken = take(part, offset + at); !taken) return taken;
    }
    return {};
  }

  static Container::Lines blob_headers(std::string_view body) {
    return {{"x-ms-blob-type", "BlockBlob"}, {"Content-MD5", base64(transfer::md5(body))}};
  }

  Outcome write(const std::string& name, const std::string& query, const Container::Lines& headers,
                std::string_view body) {
    auto reply =
        container_->ask("PUT", name, query, headers, body, [this] { return keep_lease(); });
    if (!reply) return Failure{reply.error()};
    if (!reply->ok()) return Failure{reply->why()};
    return {};
  }
  Outcome put_blob(const std::string& name, std::string_view body) {
    return write(name, "", blob_headers(body), body);
  }
  Outcome put_block(const std::string& name, size_t number, std::string_view body) {
    const std::string query = "comp=block&blockid=" + wire::percent_encode(block_id(number));
    return write(name, query, {{"Content-MD5", base64(transfer::md5(body))}}, body);
  }
  Outcome put_block_list(const std::string& name, size_t blocks) {
    std::string text = "<?xml version=\"1.0\" encoding=\"utf-8\"?><BlockList>";
    for (size_t i = 0; i < blocks; ++i)
      text.append("<Latest>").append(block_id(i)).append("</Latest>");
    text.append("</BlockList>");
    return write(name, "comp=blocklist", {}, text);
  }

  Outcome lease(const std::string& action) {
    Container::Lines headers{{"x-ms-lease-action", action}};
    if (action == "acquire") {
      // Chosen here, so that a second try after a lost answer gets the same.
      headers.emplace_back("x-ms-proposed-lease-id", lease_);
      headers.emplace_back("x-ms-lease-duration", std::to_string(kLease.count()));
    } else {
      headers.emplace_back("x-ms-lease-id", lease_);
    }
    const auto asked = std::chrono::steady_clock::now();
    auto reply = container_->ask("PUT", kLock, "comp=lease", headers, "");
    if (!reply) return Failure{reply.error()};
    if (reply->status == 409) return Failure{std::string("another backup to it is under way")};
    if (!reply->ok()) return Failure{reply->why()};
    renewed_ = asked;
    return {};
  }
  Outcome keep_lease() {
    if (std::chrono::steady_clock::now() - renewed_ < kRenewAfter) return {};
    return lease("renew");
  }

  const std::unique_ptr<Container> container_;
  std::string lease_;
  std::chrono::steady_clock::time_point renewed_{};
  std::string list_etag_;  // Empty: there was none.
};

}  // namespace

Result<std::unique_ptr<BackupPlace>, std::string> container_place(const std::string& url) {
  auto container = Container::open(url);
  if (!container) return Failure{container.error()};
  return std::unique_ptr<BackupPlace>(std::make_unique<ContainerPlace>(std::move(*container)));
}

}  // namespace kyanite::upkeep
