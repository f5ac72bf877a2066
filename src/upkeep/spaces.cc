#include "upkeep/spaces.h"

#include <algorithm>

#include "blob/hierarchy.h"
#include "blob/records.h"
#include "blob/tag_entry.h"
#include "engine/codec.h"
#include "file/records.h"
#include "jobs/schedule.h"
#include "lifetime/deleted.h"
#include "lifetime/directory.h"
#include "queue/records.h"
#include "store/fields.h"
#include "table/table.h"

namespace kyanite::upkeep {

namespace {

constexpr uint32_t kNoAccount = UINT32_MAX;

template <class T>
std::optional<store::SpaceId> living(std::string_view value) {
  const auto decoded = store::decode<T>(value);
  if (!decoded) return std::nullopt;
  return decoded->space;
}

template <class T>
std::optional<store::SpaceId> deleted(std::string_view value) {
  const auto decoded = store::decode<lifetime::Deleted<T>>(value);
  if (!decoded) return std::nullopt;
  return decoded->value.space;
}

// The families of a directory whose records name spaces.
struct Naming {
  store::Family family;
  Kind kind;
  std::optional<store::SpaceId> (*space)(std::string_view value);
};
constexpr Naming kNaming[] = {
    {lifetime::kContainersFamily, Kind::kContainer, living<blob::Container>},
    {lifetime::kDeletedContainersFamily, Kind::kContainer, deleted<blob::Container>},
    {lifetime::kDeadContainersFamily, Kind::kDead, living<lifetime::DeadSpace>},
    {lifetime::kQueuesFamily, Kind::kQueue, living<queue::Queue>},
    {lifetime::kDeadQueuesFamily, Kind::kDead, living<lifetime::DeadSpace>},
    {lifetime::kTablesFamily, Kind::kTable, living<table::Table>},
    {lifetime::kDeadTablesFamily, Kind::kDead, living<lifetime::DeadSpace>},
    {lifetime::kSharesFamily, Kind::kShare, living<file::Share>},
    {lifetime::kDeletedSharesFamily, Kind::kShare, deleted<file::Share>},
    {lifetime::kDeadSharesFamily, Kind::kDead, living<lifetime::DeadSpace>},
};

// Shows the records of one family that can be read, with the space that each names.
using SeeNamed = std::function<bool(const store::Key& key, store::SpaceId space)>;
void each_named(const engine::FrozenRecords& records, store::SpaceId directory,
                const Naming& naming, const SeeNamed& see) {
  const auto range = store::Range::family(directory, naming.family);
  const auto entry = [&](std::string_view key, std::string_view bytes) {
    const auto value = engine::decode_value(bytes);
    const auto space = value ? naming.space(*value) : std::nullopt;
    if (!space) return true;
    return see(store::Key::from_bytes(std::string(key)), *space);
  };
  records.scan(range.from(), range.to(), entry, [](const engine::Gap&) {});
}

}  // namespace

Spaces::Spaces(const engine::FrozenRecords& records, std::vector<std::string> accounts)
    : records_(records), accounts_(std::move(accounts)) {
  known_.push_back({0, Kind::kEngine, kNoAccount});
  known_.push_back({jobs::kCursorSpace, Kind::kCursors, kNoAccount});
  find_accounts(records);
  std::sort(accounts_.begin(), accounts_.end());
  accounts_.erase(std::unique(accounts_.begin(), accounts_.end()), accounts_.end());
  for (uint32_t i = 0; i < accounts_.size(); ++i) read_directory(i);
  std::stable_sort(known_.begin(), known_.end(),
                   [](const Known& a, const Known& b) { return a.space < b.space; });
}

void Spaces::find_accounts(const engine::FrozenRecords& records) {
  const auto range = store::Range::space(jobs::kCursorSpace);
  const auto see = [this](std::string_view bytes, std::string_view) {
    auto account = store::Key::from_bytes(std::string(bytes)).partition();
    if (accounts_.empty() || accounts_.back() != account) accounts_.push_back(std::move(account));
    return true;
  };
  records.scan(range.from(), range.to(), see, [](const engine::Gap&) {});
}

void Spaces::read_directory(uint32_t account) {
  const std::string& name = accounts_[account];
  const auto directory = lifetime::directory_space(name);
  known_.push_back({directory, Kind::kDirectory, account});
  known_.push_back({blob::tag_space(name), Kind::kTags, account});
  known_.push_back({blob::lake_space(name), Kind::kLake, account});
  for (const auto& naming : kNaming) {
    each_named(records_, directory, naming, [&](const store::Key&, store::SpaceId space) {
      known_.push_back({space, naming.kind, account});
      return true;
    });
  }
}

const Spaces::Known* Spaces::find(store::SpaceId space) const {
  const auto found =
      std::lower_bound(known_.begin(), known_.end(), space,
                       [](const Known& known, store::SpaceId at) { return known.space < at; });
  return found == known_.end() || found->space != space ? nullptr : &*found;
}

Spaces::Owner Spaces::of(store::SpaceId space) const {
  const Known* known = find(space);
  if (known == nullptr) return {};
  return {known->kind, known->account == kNoAccount ? "" : accounts_[known->account]};
}

std::string Spaces::name_of(store::SpaceId space) const {
  const Known* known = find(space);
  if (known == nullptr || known->account == kNoAccount) return {};
  const std::string& account = accounts_[known->account];
  std::string name;
  for (const auto& naming : kNaming) {
    if (naming.kind != known->kind) continue;
    const auto see = [&](const store::Key& key, store::SpaceId named) {
      if (named == space) name = key.partition();
      return name.empty();
    };
    each_named(records_, lifetime::directory_space(account), naming, see);
    if (!name.empty()) break;
  }
  return account + "/" + name;
}

std::vector<store::SpaceId> Spaces::between(store::SpaceId from, store::SpaceId to) const {
  std::vector<store::SpaceId> spaces;
  for (const auto& known : known_) {
    if (known.space >= from && known.space < to && known.kind != Kind::kDead)
      spaces.push_back(known.space);
  }
  return spaces;
}

std::string_view name(Kind kind) {
  switch (kind) {
    case Kind::kUnknown:
      return "records of no known owner";
    case Kind::kEngine:
      return "the record of the data directory";
    case Kind::kCursors:
      return "where jobs stand, which may be lost";
    case Kind::kDirectory:
      return "the names of everything in account";
    case Kind::kTags:
      return "the index of blobs by tags of account";
    case Kind::kLake:
      return "containers with directories of account";
    case Kind::kContainer:
      return "container";
    case Kind::kQueue:
      return "queue";
    case Kind::kTable:
      return "table";
    case Kind::kShare:
      return "share";
    case Kind::kDead:
      return "what is left of something that was deleted";
  }
  return "";
}

}  // namespace kyanite::upkeep
