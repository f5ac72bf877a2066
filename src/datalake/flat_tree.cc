#include "datalake/flat_tree.h"

#include <algorithm>
#include <utility>

#include "base/bytes.h"
#include "store/fields.h"

namespace kyanite::datalake {

using blob::Blob;
using service::Call;
using wire::Code;

namespace {

// Goes through names, and sees of each the blob itself and whether it has snapshots.
class NameWalk {
 public:
  NameWalk(const store::View& view, store::SpaceId space, std::string_view prefix,
           std::string_view first)
      : space_(space), cursor_(view.scan(range(space, prefix, first))) {
    if (valid()) row_ = store::split_key(cursor_->key(), name_);
  }
  bool valid() const { return cursor_->valid(); }
  const std::string& name() const { return name_; }
  store::Result<void> status() const { return cursor_->status(); }

  // Nothing where the blob itself is not seen. Goes on to the next name.
  store::Result<std::optional<FlatHead>> take(Time now) {
    std::optional<FlatHead> head;
    const std::string name = name_;
    if (row_.empty()) {
      auto blob = decode();
      if (!blob) return blob.error();
      if (blob::is_visible(*blob, now)) head = FlatHead{name, std::move(*blob), false};
      next();
    }
    for (; is_at(name) && row_.starts_with('s') && head && !head->has_snapshots; next()) {
      auto snapshot = decode();
      if (!snapshot) return snapshot.error();
      head->has_snapshots = !snapshot->deleted.set();
    }
    if (is_at(name)) {
      cursor_->seek(store::after_partition(space_, blob::kHeads, name));
      look();
    }
    return head;
  }

 private:
  static store::Range range(store::SpaceId space, std::string_view prefix, std::string_view first) {
    auto range = store::Range::partition_prefix(space, blob::kHeads, prefix);
    if (!first.empty()) range.start_at(store::partition_prefix_bytes(space, blob::kHeads, first));
    return range;
  }
  store::Result<Blob> decode() const {
    auto value = cursor_->value();
    if (!value) return value.error();
    auto blob = store::decode<Blob>(*value);
    if (!blob) return store::Error::kCorrupt;
    return std::move(*blob);
  }
  bool is_at(const std::string& name) const { return valid() && name_ == name; }
  void next() {
    cursor_->next();
    look();
  }
  void look() {
    if (valid()) row_ = store::split_key(cursor_->key(), name_);
  }

  const store::SpaceId space_;
  const std::unique_ptr<store::View::Cursor> cursor_;
  std::string name_;
  std::string_view row_;
};

store::Result<FlatPortion> collect(const store::View& view, store::SpaceId space,
                                   std::string_view prefix, std::string_view first, size_t most,
                                   Time now) {
  FlatPortion portion;
  NameWalk walk(view, space, prefix, first);
  // What is not seen counts as well, or a look had no end among many that are deleted.
  for (size_t walked = 0; walk.valid(); ++walked) {
    if (walked == most) {
      portion.next = walk.name();
      break;
    }
    auto head = walk.take(now);
    if (!head) return head.error();
    if (*head) portion.heads.push_back(std::move(**head));
  }
  if (auto status = walk.status(); !status) return status.error();
  return portion;
}

Task<wire::Result<std::optional<Blob>>> first_below(Call& call, store::SpaceId space,
                                                    std::string_view prefix) {
  std::string from;
  while (true) {
    auto portion = co_await load_flat_portion(call, space, prefix, from);
    if (!portion) co_return portion.error();
    if (!portion->heads.empty()) co_return std::move(portion->heads.front().blob);
    if (portion->next.empty()) co_return std::optional<Blob>();
    if (call.deadline.over()) co_return wire::Error(Code::kOperationTimedOut);
    from = std::move(portion->next);
  }
}

Blob implied_by(const Blob& first) {
  Blob blob;
  blob.created = first.created;
  blob.changed = first.changed;
  blob.http.content_type = "application/octet-stream";
  blob.metadata = marked({});
  return blob;
}

int64_t page_seconds(const Call& call) {
  return call.asked_s > 0 ? std::min(kFlatPageSeconds, call.asked_s / 2) : kFlatPageSeconds;
}

}  // namespace

bool is_same(const store::RecordPtr& one, const store::RecordPtr& other) {
  if (one == nullptr || other == nullptr) return one == other;
  return static_cast<const store::Record&>(*one) == static_cast<const store::Record&>(*other);
}

bool is_enough(const store::Commit& commit) {
  if (commit.writes.size() >= kEnoughRecords) return true;
  size_t bytes = 0;
  for (const store::Write& write : commit.writes)
    bytes += write.record == nullptr ? 0 : write.record->value.size();
  return bytes >= kEnoughBytes;
}

headers::Metadata marked(headers::Metadata metadata) {
  std::erase_if(metadata, [](const auto& pair) {
    return equals_ignoring_case(pair.first, blob::kFolderMark);
  });
  metadata.emplace_back(blob::kFolderMark, "true");
  return metadata;
}

FlatPage::FlatPage(const Call& call)
    : soft_(call.context.clock, page_seconds(call)), hard_(call.deadline) {}

Task<wire::Result<FlatPortion>> load_flat_portion(Call& call, store::SpaceId space,
                                                  std::string_view prefix, std::string_view first,
                                                  size_t most) {
  FlatPortion portion;
  const store::Look look = [&](const store::View& view) -> store::Result<void> {
    auto collected = collect(view, space, prefix, first, most, call.now);
    if (!collected) return collected.error();
    portion = std::move(*collected);
    return {};
  };
  auto looked = co_await call.store().look(look);
  if (!looked) co_return service::storage_error(looked.error());
  co_return std::move(portion);
}

Task<wire::Result<void>> check_first_page(Call& call, store::SpaceId space, std::string_view prefix,
                                          MayTake may) {
  std::string at;
  size_t seen = 0;
  do {
    auto portion = co_await load_flat_portion(call, space, prefix, at);
    if (!portion) co_return portion.error();
    for (const FlatHead& head : portion->heads) {
      if (auto allowed = may(head); !allowed) co_return allowed.error();
    }
    if (call.deadline.over()) co_return wire::Error(Code::kOperationTimedOut);
    seen += kFlatPortion;
    at = std::move(portion->next);
  } while (!at.empty() && seen < kFlatPageBlobs);
  co_return wire::Result<void>();
}

Task<wire::Result<bool>> is_flat_empty(Call& call, store::SpaceId space, std::string_view prefix) {
  auto first = co_await first_below(call, space, prefix);
  if (!first) co_return first.error();
  co_return !*first;
}

Task<wire::Result<FlatPath>> find_flat_path(Call& call, store::SpaceId space,
                                            std::string_view path) {
  while (path.ends_with('/')) path.remove_suffix(1);
  FlatPath found;
  found.name = path;
  auto head = co_await service::load<Blob>(call, store::Key(space, blob::kHeads, path));
  if (!head) co_return head.error();
  found.record = std::move(head->record);
  if (head->value && blob::is_visible(*head->value, call.now)) {
    found.kind = blob::is_folder(*head->value) ? FlatPath::Kind::kMarked : FlatPath::Kind::kFile;
    found.blob = std::move(head->value);
    co_return std::move(found);
  }
  auto first = co_await first_below(call, space, found.below());
  if (!first) co_return first.error();
  if (*first) {
    found.kind = FlatPath::Kind::kImplied;
    found.blob = implied_by(**first);
  }
  co_return std::move(found);
}

}  // namespace kyanite::datalake
