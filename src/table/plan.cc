#include "table/plan.h"

#include <algorithm>
#include <optional>

#include "table/entity.h"

namespace kyanite::table {

namespace {

// A filter of more alternatives than this is answered by scanning what spans them all.
constexpr size_t kMaxBoxes = 64;

// Keys from `low` up to `high`. A limit is the smallest key that is in (low) or out (high): after
// "a" comes "a\0", so bounds that exclude or include their key need no flag.
struct Interval {
  std::string low;
  std::optional<std::string> high;  // Nothing: no end.

  bool empty() const { return high && *high <= low; }
  // The one key it holds, if it is one.
  bool single() const { return high && *high == low + '\0'; }

  static Interval of(Relation relation, const std::string& key) {
    switch (relation) {
      case Relation::kEq:
        return {key, key + '\0'};
      case Relation::kGt:
        return {key + '\0', {}};
      case Relation::kGe:
        return {key, {}};
      case Relation::kLt:
        return {"", key};
      case Relation::kLe:
        return {"", key + '\0'};
      case Relation::kNe:
        break;
    }
    return {};
  }

  Interval intersect(const Interval& other) const {
    Interval both{std::max(low, other.low), high ? high : other.high};
    if (high && other.high) both.high = std::min(*high, *other.high);
    return both;
  }
};

struct Box {
  Interval partition;
  Interval row;
};
using Boxes = std::vector<Box>;

Boxes boxes_of(const Filter& filter, const Filter::Node& node);

Boxes intersect(const Boxes& a, const Boxes& b) {
  // Either side alone holds all matches too.
  if (a.size() * b.size() > kMaxBoxes) return a.size() < b.size() ? a : b;
  Boxes both;
  for (const Box& left : a) {
    for (const Box& right : b) {
      Box box{left.partition.intersect(right.partition), left.row.intersect(right.row)};
      if (!box.partition.empty() && !box.row.empty()) both.push_back(std::move(box));
    }
  }
  return both;
}

Boxes unite(const Filter& filter, const Filter::Node& node) {
  Boxes all;
  for (size_t child : node.children) {
    Boxes more = boxes_of(filter, filter.node(child));
    all.insert(all.end(), more.begin(), more.end());
    if (all.size() > kMaxBoxes) return {Box{}};
  }
  return all;
}

Boxes boxes_of(const Filter& filter, const Filter::Node& node) {
  switch (node.kind) {
    case Filter::Node::Kind::kAnd: {
      Boxes boxes{Box{}};
      for (size_t child : node.children)
        boxes = intersect(boxes, boxes_of(filter, filter.node(child)));
      return boxes;
    }
    case Filter::Node::Kind::kOr:
      return unite(filter, node);
    case Filter::Node::Kind::kNot:
      return {Box{}};
    case Filter::Node::Kind::kCompare: {
      const bool of_partition = node.property == kPartitionKey;
      if (!of_partition && node.property != kRowKey) return {Box{}};
      if (node.literal.type != Edm::kString) return {};  // Keys are strings: never true.
      Box box;
      (of_partition ? box.partition : box.row) = Interval::of(node.relation, node.literal.bytes);
      return {box};
    }
    case Filter::Node::Kind::kConstant:
      return node.constant ? Boxes{Box{}} : Boxes{};
  }
  return {Box{}};
}

std::string key_bytes(store::SpaceId space, std::string_view partition, std::string_view row) {
  return store::Key(space, kEntities, partition, row).bytes();
}

// Row bounds only narrow a range within one partition.
store::Range range_of(store::SpaceId space, const Box& box) {
  if (box.partition.single()) {
    const std::string& partition = box.partition.low;
    auto rows = store::Range::rows(space, kEntities, partition);
    rows.start_at(key_bytes(space, partition, box.row.low));
    if (box.row.high) rows.end_before(key_bytes(space, partition, *box.row.high));
    return rows;
  }
  auto partitions = store::Range::family(space, kEntities);
  partitions.start_at(key_bytes(space, box.partition.low, {}));
  if (box.partition.high) partitions.end_before(key_bytes(space, *box.partition.high, {}));
  return partitions;
}

std::vector<store::Range> clip(std::vector<store::Range> ranges, const std::string& from,
                               const std::optional<std::string>& to) {
  for (auto& range : ranges) {
    range.start_at(from);
    if (to) range.end_before(*to);
  }
  std::erase_if(ranges, [](const store::Range& range) { return range.empty(); });
  return ranges;
}

}  // namespace

std::vector<store::Range> plan(store::SpaceId space, const Filter* filter) {
  if (filter == nullptr) return {store::Range::family(space, kEntities)};
  std::vector<store::Range> ranges;
  for (const Box& box : boxes_of(*filter, filter->root())) ranges.push_back(range_of(space, box));
  std::sort(ranges.begin(), ranges.end(),
            [](const store::Range& a, const store::Range& b) { return a.from() < b.from(); });
  std::vector<store::Range> disjoint;
  for (auto& range : ranges) {
    if (range.empty()) continue;
    if (disjoint.empty() || !disjoint.back().join(range)) disjoint.push_back(std::move(range));
  }
  return disjoint;
}

std::vector<store::Range> confine(std::vector<store::Range> ranges, store::SpaceId space,
                                  const auth::KeyRange& keys) {
  std::string from;
  if (keys.start_partition)
    from = key_bytes(space, *keys.start_partition, keys.start_row.value_or(""));
  std::optional<std::string> to;
  if (keys.end_partition) {
    to = keys.end_row ? key_bytes(space, *keys.end_partition, *keys.end_row + '\0')
                      : store::after_partition(space, kEntities, *keys.end_partition);
  }
  return clip(std::move(ranges), from, to);
}

std::vector<store::Range> start_at(std::vector<store::Range> ranges, store::SpaceId space,
                                   std::string_view partition, std::string_view row) {
  return clip(std::move(ranges), key_bytes(space, partition, row), {});
}

}  // namespace kyanite::table
