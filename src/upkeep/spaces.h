// Whose a space is: the other way round than services look, who come from names. Takes 16 bytes of
// memory for each container, queue, table and share; names are looked up when they are asked for.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/frozen_records.h"
#include "store/key.h"

namespace kyanite::upkeep {

enum class Kind : uint8_t {
  kUnknown,
  kEngine,
  kCursors,    // of jobs
  kDirectory,  // of an account,
  kTags,       // its index of tags,
  kLake,       // and its containers with directories
  kContainer,
  kQueue,
  kTable,
  kShare,
  kDead,  // of something that was deleted
};

class Spaces {
 public:
  // The names of accounts are not stored, so some have to be known; those that jobs have seen are
  // found.
  Spaces(const engine::FrozenRecords& records, std::vector<std::string> accounts);

  struct Owner {
    Kind kind = Kind::kUnknown;
    std::string account;  // "" where it has none
  };
  Owner of(store::SpaceId space) const;
  // "acme/box" of a container, queue, table or share.
  std::string name_of(store::SpaceId space) const;
  // The containers, queues, tables and shares with spaces in this range, the last not included.
  std::vector<store::SpaceId> between(store::SpaceId from, store::SpaceId to) const;

 private:
  struct Known {
    store::SpaceId space = 0;
    Kind kind = Kind::kUnknown;
    uint32_t account = 0;
  };
  void find_accounts(const engine::FrozenRecords& records);
  void read_directory(uint32_t account);
  const Known* find(store::SpaceId space) const;

  const engine::FrozenRecords& records_;
  std::vector<std::string> accounts_;
  std::vector<Known> known_;  // by space
};

// What a space is called whose owner is of this kind: "container".
std::string_view name(Kind kind);

}  // namespace kyanite::upkeep
