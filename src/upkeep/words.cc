#include "upkeep/words.h"

#include <algorithm>
#include <set>

#include "base/bytes.h"
#include "blob/records.h"
#include "content/content.h"
#include "content/graves.h"
#include "engine/codec.h"
#include "lifetime/directory.h"
#include "queue/place.h"
#include "store/fields.h"
#include "tree/records.h"
#include "wire/date.h"

namespace kyanite::upkeep {

namespace {

constexpr size_t kIdBytes = sizeof(uint64_t);
constexpr size_t kMostObjects = 1000;  // of one gap
constexpr size_t kLeastKeyBytes = 11;  // space, family and the end of the partition

const engine::FrozenRecords::SeeGap kPassOver = [](const engine::Gap&) {};

std::string_view directory_word(store::Family family) {
  switch (family) {
    case lifetime::kContainersFamily:
      return "container ";
    case lifetime::kQueuesFamily:
      return "queue ";
    case lifetime::kTablesFamily:
      return "table ";
    case lifetime::kSharesFamily:
      return "share ";
    case lifetime::kPropertiesFamily:
      return "the service properties of ";
    case lifetime::kDeletedContainersFamily:
      return "the deleted container ";
    case lifetime::kDeletedSharesFamily:
      return "the deleted share ";
    case lifetime::kPendingCopiesFamily:
    case lifetime::kPendingFileCopiesFamily:
      return "the pending copy ";
    default:
      return "what is left of the deleted ";
  }
}

// Whether they can be taken apart (docs/formats/keys.md); bytes out of damaged blocks often cannot.
bool is_key(std::string_view bytes) {
  if (bytes.size() < kLeastKeyBytes) return false;
  size_t zero = bytes.find('\0', 9);
  while (zero != std::string_view::npos && zero + 1 < bytes.size()) {
    if (bytes[zero + 1] == '\x01') return true;
    if (bytes[zero + 1] != '\xff') return false;
    zero = bytes.find('\0', zero + 2);
  }
  return false;
}

// "" when it cannot be one that ever was.
std::string instant_text(Time instant) {
  constexpr int64_t kEnd = 3'155'378'976'000'000'000;  // of the year 9999
  if (instant.ticks <= 0 || instant.ticks >= kEnd) return "";
  return std::string(wire::iso_date(instant).view()) + " ";
}

}  // namespace

std::string printable(std::string_view text) {
  if (!is_valid_utf8(text)) {
    std::string out;
    for (char c : text) {
      if (c >= ' ' && c < 0x7f && c != '%') {
        out += c;
      } else {
        out.append("%").append(hex(std::string_view(&c, 1)));
      }
    }
    return out;
  }
  std::string out;
  for (char c : text) {
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) {
      out.append("%").append(hex(std::string_view(&c, 1)));
    } else {
      out += c;
    }
  }
  return out;
}

std::string Words::owner_of(store::SpaceId space) {
  if (named_ != space || name_.empty()) {
    named_ = space;
    name_ = spaces_.name_of(space);
  }
  return name_;
}

std::string Words::object_of(std::string_view bytes) {
  if (!is_key(bytes)) return "a record whose key is damaged (" + hex(bytes) + ")";
  const auto key = store::Key::from_bytes(std::string(bytes));
  const auto [kind, account] = spaces_.of(key.space());
  switch (kind) {
    case Kind::kDirectory:
      return in_directory(account, key);
    case Kind::kContainer:
      return in_container(key, owner_of(key.space()));
    case Kind::kLake:
      return in_lake(account, key);
    case Kind::kShare:
      return in_share(key, owner_of(key.space()));
    case Kind::kTable:
      return "entity PartitionKey '" + printable(key.partition()) + "', RowKey '" +
             printable(key.row()) + "' of table " + owner_of(key.space());
    case Kind::kQueue: {
      const auto row = key.row();
      if (row.size() < 2 * kIdBytes) return "queue " + owner_of(key.space());
      const char* id = row.data() + row.size() - 2 * kIdBytes;
      const queue::MessageId message{read_be64(id), read_be64(id + kIdBytes)};
      return "message " + message.text() + " of queue " + owner_of(key.space());
    }
    case Kind::kTags:
      return std::string(name(kind)) + " " + account;
    case Kind::kUnknown:
    case Kind::kEngine:
    case Kind::kCursors:
    case Kind::kDead:
      return std::string(name(kind));
  }
  return {};
}

std::string Words::in_directory(const std::string& account, const store::Key& key) {
  return std::string(directory_word(key.family())) + account + "/" + printable(key.partition());
}

std::string Words::in_container(const store::Key& key, const std::string& container) {
  const std::string blob = "blob " + container + "/" + printable(key.partition());
  if (key.family() == blob::kBlocks && !key.row().empty()) return "an uncommitted block of " + blob;
  if (key.family() != blob::kHeads || key.row().size() <= kIdBytes) return blob;
  const auto [snapshot, version] = blob::parse_row(key.row());
  const Time instant = snapshot.set() ? snapshot : version;
  return (snapshot.set() ? "the snapshot " : "the version ") + instant_text(instant) + "of " + blob;
}

const Words::Nodes& Words::directories_of(store::SpaceId space, bool lake) {
  if (listed_ == space) return directories_;
  listed_ = space;
  directories_.clear();
  const auto family = lake ? blob::kHeads : tree::kEntries;
  const auto range = store::Range::family(space, family);
  const auto see = [&](std::string_view bytes, std::string_view stored) {
    const auto key = store::Key::from_bytes(std::string(bytes));
    const auto value = engine::decode_value(stored);
    if (!value) return true;
    if (lake) {
      const auto blob = store::decode<blob::Blob>(*value);
      const auto partition = key.partition();
      if (blob && blob->is_directory() && key.row().empty() && partition.size() > kIdBytes)
        directories_[blob->node_id] = {read_be64(partition.data()), partition.substr(kIdBytes)};
    } else {
      const auto entry = store::decode<tree::Entry>(*value);
      if (entry && entry->directory && key.row().size() > kIdBytes)
        directories_[entry->id] = {read_be64(key.row().data()), entry->name};
    }
    return true;
  };
  records_.scan(range.from(), range.to(), see, kPassOver);
  return directories_;
}

// From the root of a share, or with the name of the container.
std::string Words::path_of(store::SpaceId space, bool lake, uint64_t directory,
                           std::string_view name) {
  std::string path = printable(name);
  const auto& nodes = directories_of(space, lake);
  std::set<uint64_t> seen;  // Damage may make circles.
  while (seen.insert(directory).second) {
    const auto above = nodes.find(directory);
    if (above == nodes.end()) break;
    path = printable(above->second.second) + "/" + path;
    directory = above->second.first;
  }
  if (lake) return owner_of(directory) + "/" + path;
  return directory == tree::kRootId ? path : "(a directory that is missing)/" + path;
}

std::optional<Words::Node> Words::find_node(store::SpaceId space, bool lake, uint64_t id) {
  if (looked_for_ == std::pair(space, id)) return found_;
  looked_for_ = {space, id};
  found_.reset();
  for (const auto family :
       lake ? std::vector{blob::kHeads} : std::vector{tree::kEntries, tree::kFormer}) {
    const auto range = store::Range::family(space, family);
    const auto see = [&](std::string_view bytes, std::string_view stored) {
      const auto key = store::Key::from_bytes(std::string(bytes));
      const auto value = engine::decode_value(stored);
      if (!value) return true;
      if (lake) {
        const auto blob = store::decode<blob::Blob>(*value);
        const auto partition = key.partition();
        if (blob && blob->node_id == id && key.row().empty() && partition.size() > kIdBytes)
          found_ = Node(read_be64(partition.data()), partition.substr(kIdBytes));
      } else {
        const auto entry = store::decode<tree::Entry>(*value);
        if (entry && entry->content.id == id && key.row().size() > kIdBytes)
          found_ = Node(read_be64(key.row().data()), entry->name);
      }
      return !found_;
    };
    records_.scan(range.from(), range.to(), see, kPassOver);
    if (found_) break;
  }
  return found_;
}

std::string Words::in_lake(const std::string& account, const store::Key& key) {
  const std::string partition = key.partition();
  if (partition.size() < kIdBytes) return std::string(name(Kind::kLake)) + " " + account;
  const uint64_t id = read_be64(partition.data());
  if (key.family() == blob::kDeletedPaths)
    return "the deleted path " + owner_of(id) + "/" + printable(partition.substr(kIdBytes));
  if (partition.size() > kIdBytes)
    return "path " + path_of(key.space(), true, id, partition.substr(kIdBytes));
  const auto node = find_node(key.space(), true, id);
  if (!node) return "a path of account " + account + " that is gone";
  return "path " + path_of(key.space(), true, node->first, node->second);
}

std::string Words::in_share(const store::Key& key, const std::string& share) {
  const auto row = key.row();
  const auto family = key.family();
  if (row.size() < kIdBytes) return "share " + share;
  const uint64_t id = read_be64(row.data());
  if (family == tree::kEntries || family == tree::kFormer) {
    std::string_view named = row.substr(kIdBytes);
    if (family == tree::kFormer) named = named.substr(0, named.find('\0'));
    // The name is in upper case here; the record has it as it was given.
    std::string given(named);
    if (const auto record = records_.get(key); record && *record != nullptr) {
      const auto entry = store::decode<tree::Entry>((*record)->value);
      if (entry && !entry->name.empty()) given = entry->name;
    }
    const std::string path = path_of(key.space(), false, id, given);
    return (family == tree::kFormer ? "a former state of file " : "file ") + share + "/" + path;
  }
  if (family == content::kContentFamily || family == content::kGraves) {
    const auto node = find_node(key.space(), false, id);
    if (!node) return "a file of share " + share + " that is gone";
    return "file " + share + "/" + path_of(key.space(), false, node->first, node->second);
  }
  return "share " + share;
}

std::string Words::all_of(store::SpaceId space) {
  const auto [kind, account] = spaces_.of(space);
  switch (kind) {
    case Kind::kContainer:
    case Kind::kQueue:
    case Kind::kTable:
    case Kind::kShare:
      return "everything in " + std::string(name(kind)) + " " + owner_of(space);
    case Kind::kDirectory:
    case Kind::kTags:
    case Kind::kLake:
      return std::string(name(kind)) + " " + account;
    case Kind::kUnknown:
    case Kind::kEngine:
    case Kind::kCursors:
    case Kind::kDead:
      return std::string(name(kind));
  }
  return {};
}

std::vector<std::string> Words::objects_in(const engine::Gap& gap) {
  std::vector<std::string> objects;
  const auto add = [&](std::string object) {
    if (objects.size() < kMostObjects &&
        std::find(objects.begin(), objects.end(), object) == objects.end())
      objects.push_back(std::move(object));
  };
  for (const auto& key : gap.keys) add(object_of(key));
  const bool from_first = gap.after.size() < kIdBytes;
  const bool to_last = !gap.before || gap.before->size() < kIdBytes;
  const store::SpaceId first = from_first ? 0 : read_be64(gap.after.data());
  const store::SpaceId last = to_last ? UINT64_MAX : read_be64(gap.before->data());
  if (!from_first && !to_last && first == last) {
    if (!gap.keys.empty()) return objects;
    // Each family has all names, so between two of them anything may have been.
    const bool one_family = gap.after.substr(0, 9) == gap.before->substr(0, 9);
    add(one_family ? "everything between " + object_of(gap.after) + " and " + object_of(*gap.before)
                   : all_of(first));
    return objects;
  }
  // What lies between, by its owners: the rest of the first, all of those between, and the
  // beginning of the last.
  if (!from_first && gap.keys.empty()) add(all_of(first) + " from " + object_of(gap.after) + " on");
  for (const auto space : spaces_.between(from_first ? 0 : first + 1, last)) add(all_of(space));
  if (!to_last && gap.keys.empty()) add(all_of(last) + " up to " + object_of(*gap.before));
  if (objects.empty()) add("everything in the data directory");
  return objects;
}

}  // namespace kyanite::upkeep
