#include "upkeep/record_kinds.h"

#include "account/properties.h"
#include "blob/blocks.h"
#include "blob/records.h"
#include "blob/tag_entry.h"
#include "content/content.h"
#include "content/graves.h"
#include "engine/identity.h"
#include "file/records.h"
#include "lifetime/deleted.h"
#include "lifetime/directory.h"
#include "queue/place.h"
#include "queue/records.h"
#include "store/fields.h"
#include "table/entity.h"
#include "table/table.h"
#include "transfer/pending_copy.h"

namespace kyanite::upkeep {

namespace {

using Readable = bool (*)(const store::Key& key, const store::Record& record);

template <class T>
bool decodes(const store::Key&, const store::Record& record) {
  return store::decode<T>(record.value).has_value();
}

bool has_pieces(const store::Key&, const store::Record& record) {
  return content::decode_pieces(record).has_value();
}

bool is_block(const store::Key& key, const store::Record& record) {
  if (key.row().empty()) return decodes<blob::BlocksMark>(key, record);
  const auto block = store::decode<blob::Block>(record.value);
  return block && blob::pieces_of(*block, record).has_value();
}

bool is_entity(const store::Key&, const store::Record& record) {
  return table::is_well_formed(record.value);
}

bool is_anything(const store::Key&, const store::Record&) { return true; }

struct Row {
  Kind kind;
  store::Family family;
  Readable readable;
};
constexpr Row kRows[] = {
    {Kind::kDirectory, lifetime::kPropertiesFamily, decodes<account::ServiceProperties>},
    {Kind::kDirectory, lifetime::kContainersFamily, decodes<blob::Container>},
    {Kind::kDirectory, lifetime::kDeletedContainersFamily,
     decodes<lifetime::Deleted<blob::Container>>},
    {Kind::kDirectory, lifetime::kDeadContainersFamily, decodes<lifetime::DeadSpace>},
    {Kind::kDirectory, lifetime::kKeptContainersFamily, decodes<lifetime::KeptName>},
    {Kind::kDirectory, lifetime::kPendingCopiesFamily, decodes<transfer::PendingCopy>},
    {Kind::kDirectory, lifetime::kTablesFamily, decodes<table::Table>},
    {Kind::kDirectory, lifetime::kDeadTablesFamily, decodes<lifetime::DeadSpace>},
    {Kind::kDirectory, lifetime::kQueuesFamily, decodes<queue::Queue>},
    {Kind::kDirectory, lifetime::kDeadQueuesFamily, decodes<lifetime::DeadSpace>},
    {Kind::kDirectory, lifetime::kSharesFamily, decodes<file::Share>},
    {Kind::kDirectory, lifetime::kDeadSharesFamily, decodes<lifetime::DeadSpace>},
    {Kind::kDirectory, lifetime::kDeletedSharesFamily, decodes<lifetime::Deleted<file::Share>>},
    {Kind::kDirectory, lifetime::kKeptSharesFamily, decodes<lifetime::KeptName>},
    {Kind::kDirectory, lifetime::kPendingFileCopiesFamily, decodes<transfer::PendingCopy>},
    {Kind::kContainer, blob::kHeads, decodes<blob::Blob>},
    {Kind::kContainer, blob::kBlocks, is_block},
    {Kind::kContainer, blob::kBlockLists, decodes<blob::BlockList>},
    {Kind::kContainer, blob::kTagChanges, decodes<blob::TagChange>},
    {Kind::kContainer, content::kContentFamily, has_pieces},
    {Kind::kContainer, content::kGraves, decodes<content::Grave>},
    {Kind::kLake, blob::kHeads, decodes<blob::Blob>},
    {Kind::kLake, blob::kBlocks, is_block},
    {Kind::kLake, blob::kBlockLists, decodes<blob::BlockList>},
    {Kind::kLake, blob::kTagChanges, decodes<blob::TagChange>},
    {Kind::kLake, blob::kAppended, is_block},
    {Kind::kLake, blob::kDeletedPaths, decodes<blob::Blob>},
    {Kind::kLake, blob::kDeadTrees, is_anything},
    {Kind::kLake, content::kContentFamily, has_pieces},
    {Kind::kLake, content::kGraves, decodes<content::Grave>},
    {Kind::kQueue, static_cast<store::Family>(queue::Lane::kReady), decodes<queue::Message>},
    {Kind::kQueue, static_cast<store::Family>(queue::Lane::kHidden), decodes<queue::Message>},
    {Kind::kQueue, queue::kTexts, is_anything},
    {Kind::kTable, table::kEntities, is_entity},
    {Kind::kShare, tree::kEntries, decodes<tree::Entry>},
    {Kind::kShare, tree::kFormer, decodes<tree::Entry>},
    {Kind::kShare, tree::kState, decodes<tree::ShareState>},
    {Kind::kShare, tree::kPermissions, decodes<tree::Permission>},
    {Kind::kShare, file::kSnapshots, decodes<file::Snapshot>},
    {Kind::kShare, content::kContentFamily, has_pieces},
    {Kind::kShare, content::kGraves, decodes<content::Grave>},
    {Kind::kTags, blob::kTagEntries, decodes<blob::TagEntry>},
};

}  // namespace

bool is_readable(Kind kind, const store::Key& key, const store::Record& record) {
  if (key.space() == 0) return engine::standing_of(record).has_value();
  for (const auto& row : kRows) {
    if (row.kind == kind && row.family == key.family()) return row.readable(key, record);
  }
  // Of what was deleted, of jobs, or marks without content: nobody misses it.
  return kind == Kind::kDead || kind == Kind::kUnknown || kind == Kind::kCursors ||
         kind == Kind::kTags;
}

}  // namespace kyanite::upkeep
