// Keys of records in words of the people whose objects they are.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/frozen_records.h"
#include "store/key.h"
#include "upkeep/spaces.h"

namespace kyanite::upkeep {

class Words {
 public:
  Words(const engine::FrozenRecords& records, const Spaces& spaces)
      : records_(records), spaces_(spaces) {}

  // "blob acme/box/a.txt", of any bytes.
  std::string object_of(std::string_view key);
  // The objects that a gap may have lost, as exactly as can be told: by themselves, or in groups
  // ("everything in container acme/box").
  std::vector<std::string> objects_in(const engine::Gap& gap);

 private:
  using Node = std::pair<uint64_t, std::string>;  // the directory it is in, and its name
  using Nodes = std::map<uint64_t, Node>;
  std::string in_directory(const std::string& account, const store::Key& key);
  std::string in_container(const store::Key& key, const std::string& container);
  std::string in_lake(const std::string& account, const store::Key& key);
  std::string in_share(const store::Key& key, const std::string& share);
  std::string owner_of(store::SpaceId space);
  std::string all_of(store::SpaceId space);

  // Directories by their ids.
  const Nodes& directories_of(store::SpaceId space, bool lake);
  std::string path_of(store::SpaceId space, bool lake, uint64_t directory, std::string_view name);
  // The place of a file whose id, or that of its content, this is.
  std::optional<Node> find_node(store::SpaceId space, bool lake, uint64_t id);

  const engine::FrozenRecords& records_;
  const Spaces& spaces_;
  // What was asked for last.
  store::SpaceId named_ = 0;
  std::string name_;
  std::optional<store::SpaceId> listed_;
  Nodes directories_;
  std::pair<store::SpaceId, uint64_t> looked_for_{};
  std::optional<Node> found_;
};

// Without characters that would spoil a line.
std::string printable(std::string_view text);

}  // namespace kyanite::upkeep
