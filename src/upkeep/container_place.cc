#include <algorithm>
#include <chrono>
#include <functional>
#include <utility>
#include <vector>

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

std::string block_id(size_t number, const std::string& whose = {}) {
  std::string digits = std::to_string(number);
  digits.insert(0, 8 - digits.size(), '0');
  return base64(whose + digits);
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
    std::string text;
    std::string etag;
    auto found = read_ranges(name, [&](const Container::Reply& reply, uint64_t) -> Outcome {
      etag = reply.etag;
      text += reply.body;
      if (text.size() > kMaxBackupListBytes) return Failure{name + " is too long"};
      return {};
    });
    if (name == kBackupName) list_etag_ = etag;
    if (!found) return Failure{found.error()};
    if (!*found) return std::optional<std::string>();
    return std::optional(std::move(text));
  }

  Result<std::map<std::string, uint64_t>, std::string> list() override {
    auto found = container_->list("files/");
    if (found) std::erase_if(*found, [](const auto& blob) { return !is_stored_name(blob.first); });
    return found;
  }

  Result<Copied, std::string> put(const std::string& from, const std::string& name,
                                  Pace& pace) override {
    std::string block;
    std::vector<std::string> ids;
    const auto put_next = [&] {
      ids.push_back(block_id(ids.size()));
      return put_block(name, ids.back(), block);
    };
    auto copied = read_parts(from, pace, [&](std::string_view part, uint64_t) -> Outcome {
      if (block.size() == kBlockBytes) {
        if (auto sent = put_next(); !sent) return sent;
        block.clear();
      }
      block.append(part);
      return {};
    });
    if (!copied) return copied;
    auto done = ids.empty() ? put_blob(name, block) : put_next();
    if (done && !ids.empty()) done = write(name, "comp=blocklist", {}, block_list(ids));
    if (!done) return Failure{done.error()};
    return copied;
  }

  Result<Copied, std::string> get(const std::string& name, Pace& pace,
                                  const TakePart& take) override {
    PartSum sum;
    auto found = read_ranges(name, [&](const Container::Reply& reply, uint64_t offset) -> Outcome {
      if (auto taken = take_parts(reply.body, offset, sum, take); !taken) return taken;
      pace.moved(reply.body.size());
      return {};
    });
    if (!found) return Failure{found.error()};
    if (!*found) return Failure{name + " is missing"};
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
    const std::string name(kBackupName);
    auto reply = text.size() <= kBlockBytes ? put_list(text) : put_long_list(text);
    if (!reply) return Failure{reply.error()};
    if (reply->ok()) return {};
    if (reply->status != 412 && reply->status != 409) return Failure{reply->why()};
    // An earlier try may have arrived, and only its answer not.
    auto found = read(name);
    if (found && *found && **found == text) return {};
    return Failure{std::string("another backup to it was made meanwhile")};
  }

 private:
  // Shows a blob range by range, all of them of one state. False: there is none.
  using TakeRange = std::function<Outcome(const Container::Reply& reply, uint64_t offset)>;
  Result<bool, std::string> read_ranges(const std::string& name, const TakeRange& take) {
    std::string etag;
    uint64_t offset = 0;
    while (true) {
      const std::string last = std::to_string(offset + kBlockBytes - 1);
      Container::Lines headers{{"x-ms-range", "bytes=" + std::to_string(offset) + "-" + last}};
      if (!etag.empty()) headers.emplace_back("If-Match", etag);
      auto reply = container_->ask("GET", name, "", headers, {});
      if (!reply) return Failure{reply.error()};
      if (reply->status == 404 && reply->code != "ContainerNotFound") return false;
      if (reply->status == 412) return Failure{name + " was replaced meanwhile"};
      if (reply->status == 416) return true;  // At its end.
      if (!reply->ok()) return Failure{reply->why()};
      etag = reply->etag;
      if (auto taken = take(*reply, offset); !taken) return Failure{taken.error()};
      offset += reply->body.size();
      if (reply->body.size() < kBlockBytes) return true;
    }
  }

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
  Outcome put_block(const std::string& name, const std::string& id, std::string_view body) {
    const std::string query = "comp=block&blockid=" + wire::percent_encode(id);
    return write(name, query, {{"Content-MD5", base64(transfer::md5(body))}}, body);
  }
  static std::string block_list(const std::vector<std::string>& ids) {
    std::string text = "<?xml version=\"1.0\" encoding=\"utf-8\"?><BlockList>";
    for (const auto& id : ids) text.append("<Latest>").append(id).append("</Latest>");
    return text.append("</BlockList>");
  }

  // The list that was found is still there.
  std::pair<std::string, std::string> list_condition() const {
    if (list_etag_.empty()) return {"If-None-Match", "*"};
    return {"If-Match", list_etag_};
  }
  Result<Container::Reply, std::string> put_list(std::string_view text) {
    Container::Lines headers = blob_headers(text);
    headers.push_back(list_condition());
    return container_->ask("PUT", std::string(kBackupName), "", headers, text,
                           [this] { return keep_lease(); });
  }
  Result<Container::Reply, std::string> put_long_list(std::string_view text) {
    const std::string name(kBackupName);
    std::vector<std::string> ids;
    for (size_t at = 0; at < text.size(); at += kBlockBytes) {
      // Nobody else has blocks of these ids, should the lease be lost.
      ids.push_back(block_id(ids.size(), lease_));
      auto sent = put_block(name, ids.back(), text.substr(at, kBlockBytes));
      if (!sent) return Failure{sent.error()};
    }
    return container_->ask("PUT", name, "comp=blocklist", {list_condition()}, block_list(ids),
                           [this] { return keep_lease(); });
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
