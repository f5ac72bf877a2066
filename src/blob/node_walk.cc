#include "blob/node_walk.h"

#include <algorithm>
#include <utility>

#include "blob/hierarchy.h"
#include "store/stored.h"

namespace kyanite::blob {

NodeWalk::NodeWalk(const store::View& view, store::SpaceId space, uint64_t directory,
                   std::string path, std::string prefix, Uncommitted uncommitted)
    : space_(space),
      heads_(view.scan(store::Range::family(space, kHeads))),
      path_(std::move(path)) {
  if (uncommitted == Uncommitted::kSeen) blocks_ = view.scan(store::Range::family(space, kBlocks));
  push(directory, prefix);
}

void NodeWalk::push(uint64_t directory, std::string_view prefix) {
  levels_.push_back({named_partition(directory, prefix), path_.size(), {}});
  seek_key(store::partition_prefix_bytes(space_, kHeads, levels_.back().lead));
  settle();
}

// Keys of the two families differ in one byte only.
void NodeWalk::seek_key(std::string key) {
  constexpr size_t kFamilyAt = sizeof(store::SpaceId);
  heads_->seek(key);
  if (!blocks_) return;
  key[kFamilyAt] = kBlocks;
  blocks_->seek(key);
}

bool NodeWalk::read_first(const Level& level) {
  bool any = false;
  if (heads_->valid()) {
    store::split_key(heads_->key(), partition_);
    any = partition_.starts_with(level.lead);
  }
  at_head_ = true;
  if (!blocks_ || !blocks_->valid()) return any;
  store::split_key(blocks_->key(), blocks_partition_);
  if (!blocks_partition_.starts_with(level.lead)) return any;
  if (any && partition_ <= blocks_partition_) return true;
  at_head_ = false;
  partition_ = blocks_partition_;
  return true;
}

void NodeWalk::settle() {
  while (!levels_.empty()) {
    const bool at_end = !heads_->valid() || (blocks_ && !blocks_->valid());
    if (at_end && !status().ok()) {
      levels_.clear();  // status() says why.
      return;
    }
    Level& level = levels_.back();
    if (read_first(level)) {
      level.name.assign(partition_, sizeof(uint64_t));
      path_.resize(level.path_size);
      path_ += level.name;
      if (!level.name.empty()) return;
      // The root lies in itself, without a name.
      seek_key(store::after_partition(space_, kHeads, partition_));
      continue;
    }
    levels_.pop_back();
    if (levels_.empty()) return;
    const Level& above = levels_.back();
    partition_.assign(above.lead, 0, sizeof(uint64_t));
    partition_ += above.name;
    seek_key(store::after_partition(space_, kHeads, partition_));
  }
}

void NodeWalk::next() {
  // Of a head there is one row, of blocks any number.
  if (blocks_) {
    seek_key(store::after_partition(space_, kHeads, partition_));
  } else {
    heads_->next();
  }
  settle();
}

void NodeWalk::enter(uint64_t id) {
  path_ += '/';
  push(id, {});
}

void NodeWalk::seek(std::string_view name) {
  if (name <= this->name()) return;
  partition_.assign(levels_.back().lead, 0, sizeof(uint64_t));
  partition_ += name;
  seek_key(store::partition_prefix_bytes(space_, kHeads, partition_));
  settle();
}

bool path_before(std::string_view a, std::string_view b) {
  return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    const auto rank = [](char c) { return c == '/' ? 0 : static_cast<unsigned char>(c) + 1; };
    return rank(x) < rank(y);
  });
}

store::Result<std::optional<uint64_t>> find_directory(const store::View& view, store::SpaceId space,
                                                      uint64_t root, std::string_view path) {
  uint64_t id = root;
  while (!path.empty()) {
    const size_t slash = path.find('/');
    const std::string_view name = path.substr(0, slash);
    if (name.empty()) return std::optional<uint64_t>();
    auto record = view.get(store::Key(space, kHeads, named_partition(id, name)));
    if (!record) return record.error();
    auto found = store::decode_shared<Blob>(std::move(*record));
    if (!found) return found.error();
    if (found->value == nullptr || !found->value->is_directory()) return std::optional<uint64_t>();
    id = found->value->node_id;
    path.remove_prefix(slash == std::string_view::npos ? path.size() : slash + 1);
  }
  return std::optional<uint64_t>(id);
}

}  // namespace kyanite::blob
