#include <algorithm>
#include <set>
#include <tuple>

#include "auth/caller.h"
#include "base/bytes.h"
#include "base/executor.h"
#include "base/random.h"
#include "blob/blocks.h"
#include "blob/heads.h"
#include "blob/place.h"
#include "blob/records.h"
#include "import/target.h"
#include "lifetime/directory.h"

namespace kyanite::import {

namespace {

headers::StoredLease lease_of(const Document& document) {
  headers::StoredLease lease;
  const auto properties = document.object("properties");
  const std::string state = properties.text("leaseState");
  constexpr std::string_view kKept[] = {"leased", "breaking", "broken", "expired"};
  if (std::find(std::begin(kKept), std::end(kKept), state) == std::end(kKept)) return lease;
  // Of what is over it does not keep when that was.
  const Time before = properties.date("lastModified");
  const auto date_or_before = [&](std::string_view name) {
    return document.has(name) ? document.date(name) : before;
  };
  lease.id = ascii_lower(document.text("leaseId"));
  lease.duration_s = static_cast<int32_t>(document.number("leaseDurationSeconds").value_or(-1));
  if (properties.text("leaseDuration") == "infinite") lease.duration_s = -1;
  lease.expires = document.date("leaseExpireTime");
  if (state == "expired") lease.expires = date_or_before("leaseExpireTime");
  if (state.starts_with("br")) lease.break_ends = date_or_before("leaseBreakTime");
  return lease;
}

blob::Tier tier_of(const Document& properties) {
  if (properties.flag("accessTierInferred")) return blob::Tier::kInferred;
  const std::string tier = properties.text("accessTier");
  for (const auto each : {blob::Tier::kHot, blob::Tier::kCool, blob::Tier::kCold,
                          blob::Tier::kArchive, blob::Tier::kPremium}) {
    if (tier == blob::name(each)) return each;
  }
  return blob::Tier::kInferred;
}

blob::Copy copy_of(const Document& properties) {
  blob::Copy copy;
  copy.id = properties.text("copyId");
  if (copy.id.empty()) return {};
  copy.source = properties.text("copySource");
  const std::string status = properties.text("copyStatus");
  for (const auto each : {blob::CopyStatus::kPending, blob::CopyStatus::kSuccess,
                          blob::CopyStatus::kAborted, blob::CopyStatus::kFailed}) {
    if (status == object::name(each)) copy.status = each;
  }
  const std::string progress = properties.text("copyProgress");
  const size_t slash = std::min(progress.find('/'), progress.size());
  copy.copied = parse_uint(progress.substr(0, slash)).value_or(0);
  if (slash < progress.size()) copy.total = parse_uint(progress.substr(slash + 1)).value_or(0);
  copy.completed = properties.date("copyCompletionTime");
  copy.status_description = properties.text("copyStatusDescription");
  return copy;
}

blob::Blob head_of(const Document& document) {
  const auto properties = document.object("properties");
  blob::Blob head;
  const std::string type = properties.text("blobType");
  if (type == "PageBlob") head.type = blob::BlobType::kPage;
  if (type == "AppendBlob") head.type = blob::BlobType::kAppend;
  head.changed = properties.date("lastModified");
  head.created = properties.has("creationTime") ? properties.date("creationTime") : head.changed;
  head.http = {properties.text("contentType"),     properties.text("contentEncoding"),
               properties.text("contentLanguage"), properties.text("contentDisposition"),
               properties.text("cacheControl"),    properties.bytes("contentMD5")};
  head.metadata = document.object("metadata").texts();
  head.lease = lease_of(document);
  head.tier = tier_of(properties);
  if (head.tier != blob::Tier::kInferred)
    head.tier_changed = properties.date("accessTierChangeTime");
  for (const auto& tag : document.object("blobTags").list("blobTagSet"))
    head.tags.emplace_back(tag.text("key"), tag.text("value"));
  std::sort(head.tags.begin(), head.tags.end());
  head.sequence_number = static_cast<uint64_t>(properties.number("blobSequenceNumber").value_or(0));
  head.sealed = properties.flag("isSealed");
  head.copy = copy_of(properties);
  return head;
}

class Blobs {
 public:
  Blobs(Target& target, const Database& database, Chunks& chunks)
      : target_(target), database_(database), chunks_(chunks) {}

  Outcome run() {
    if (auto done = import_properties(target_, database_, "blob"); !done) return done;
    using Import = Outcome (Blobs::*)(const Document&);
    const std::pair<std::string_view, Import> parts[] = {
        {"$CONTAINERS_COLLECTION$", &Blobs::add_container},
        {"$BLOBS_COLLECTION$", &Blobs::add_blob},
        {"$BLOCKS_COLLECTION$", &Blobs::add_block},
    };
    for (const auto& [collection, import] : parts) {
      Outcome outcome;
      database_.each(collection, [&, add = import](const Document& document) {
        outcome = (this->*add)(document);
        return outcome.ok();
      });
      if (!outcome) return outcome;
    }
    return {};
  }

 private:
  using Owner = std::pair<std::string, std::string>;  // account and container

  Outcome add_container(const Document& document) {
    const auto properties = document.object("properties");
    blob::Container container;
    container.space = lifetime::new_space();
    container.changed = properties.date("lastModified");
    container.created = container.changed;
    container.metadata = document.object("metadata").texts();
    container.lease = lease_of(document);
    const std::string access = properties.text("publicAccess");
    if (access == "blob") container.public_access = auth::PublicAccess::kBlob;
    if (access == "container") container.public_access = auth::PublicAccess::kContainer;
    container.policies = policies_of<account::StoredPolicy>(document, "containerAcl");
    const std::string account = document.text("accountName");
    const std::string name = document.text("name");
    if (account.empty() || name.empty()) return Failure{std::string("a container has no name")};
    spaces_[{account, name}] = container.space;
    store::Commit commit;
    commit.put(store::Key(lifetime::directory_space(account), lifetime::kContainersFamily, name),
               record_of(container));
    ++target_.counts.containers;
    return target_.commit(std::move(commit));
  }

  Result<store::SpaceId, std::string> space_of(const Document& document) const {
    const auto found = spaces_.find({document.text("accountName"), document.text("containerName")});
    if (found == spaces_.end())
      return Failure{"there is a blob in a container that is missing: " +
                     document.text("containerName")};
    return found->second;
  }

  Outcome add_blob(const Document& document) {
    if (document.flag("deleted")) return {};
    // One that was never committed has nothing but its blocks.
    if (document.has("isCommitted") && !document.flag("isCommitted")) return {};
    const auto space = space_of(document);
    if (!space) return Failure{space.error()};
    const std::string name = document.text("name");
    const std::string snapshot = document.text("snapshot");
    blob::Blob head = head_of(document);
    const blob::Place place(*space, name);
    store::Commit commit;
    Outcome filled;
    if (head.type == blob::BlobType::kPage) {
      filled = add_pages(document, place, head, commit);
    } else {
      filled = add_content(document, place, head, commit);
    }
    if (!filled) return Failure{"the blob " + name + ": " + filled.error()};
    const auto length = document.object("properties").number("contentLength").value_or(0);
    if (head.content.length != static_cast<uint64_t>(length))
      return Failure{"the blob " + name + " has not the length that it should have"};
    std::string row;
    if (!snapshot.empty()) row = blob::snapshot_row(document.date("snapshot"));
    commit.put(blob::head_key(place, row), record_of(head));
    ++target_.counts.blobs;
    target_.counts.bytes += head.content.length;
    return target_.commit(std::move(commit));
  }

  // All bytes of some chunks, one behind the other.
  Result<content::Pieces, std::string> pieces_of(const std::vector<Chunk>& chunks) {
    // A snapshot has mostly what the blob has, which is next to it.
    if (chunks == written_) return pieces_;
    content::Writer writer(target_.store);
    for (const auto& chunk : chunks) {
      for (uint64_t at = 0; at < chunk.count;) {
        auto bytes = chunks_.read(chunk, at);
        if (!bytes) return Failure{bytes.error()};
        at += bytes->size();
        auto added = RunLoop::run(writer.add(std::move(*bytes)));
        if (!added) return Failure{std::string(store::describe(added.error()))};
      }
    }
    auto pieces = RunLoop::run(writer.finish());
    if (!pieces) return Failure{std::string(store::describe(pieces.error()))};
    written_ = chunks;
    pieces_ = *pieces;
    return std::move(*pieces);
  }

  Outcome add_content(const Document& document, const blob::Place& place, blob::Blob& head,
                      store::Commit& commit) {
    std::vector<Chunk> chunks;
    blob::BlockList blocks;
    for (const auto& block : document.list("committedBlocksInOrder")) {
      chunks.push_back(chunk_of(block));
      blocks.blocks.emplace_back(unbase64(block.text("name")).value_or(""), chunks.back().count);
    }
    head.committed_blocks = blocks.blocks.size();
    if (chunks.empty() && document.has("persistency")) chunks.push_back(chunk_of(document));
    std::erase_if(chunks, [](const Chunk& chunk) { return chunk.count == 0; });
    auto pieces = pieces_of(chunks);
    if (!pieces) return Failure{pieces.error()};
    head.content = content::put(commit, place.content(), *pieces);
    if (head.type == blob::BlobType::kBlock && head.committed_blocks > 0)
      commit.put(blob::block_list_key(place.content(), head.content.id), record_of(blocks));
    return {};
  }

  Outcome add_pages(const Document& document, const blob::Place& place, blob::Blob& head,
                    store::Commit& commit) {
    const auto length = document.object("properties").number("contentLength").value_or(0);
    head.content.sparse = true;
    head.content.length = static_cast<uint64_t>(length);
    std::vector<content::Edit> edits;
    for (const auto& range : document.list("pageRangesInOrder")) {
      const auto start = static_cast<uint64_t>(range.number("start").value_or(0));
      const Chunk chunk = chunk_of(range);
      if (chunk.count == 0 || start + chunk.count > head.content.length)
        return Failure{std::string("a range of its pages is not within it")};
      auto pieces = pieces_of({chunk});
      if (!pieces) return Failure{pieces.error()};
      for (auto& piece : *pieces) piece.offset += start;
      edits.push_back({start, start + chunk.count, std::move(*pieces)});
    }
    if (edits.empty()) return {};
    auto edited =
        RunLoop::run(content::edit(target_.store, commit, place.content(), head.content, edits));
    if (!edited) return Failure{std::string(store::describe(edited.error()))};
    return {};
  }

  Outcome add_block(const Document& document) {
    if (document.flag("isCommitted")) return {};
    const auto space = space_of(document);
    if (!space) return Failure{space.error()};
    const std::string name = document.text("blobName");
    const auto id = unbase64(document.text("name"));
    if (!id || id->empty()) return Failure{"the blob " + name + " has a block without an id"};
    const Chunk chunk = chunk_of(document);
    auto pieces = pieces_of({chunk});
    if (!pieces) return Failure{"the blob " + name + ": " + pieces.error()};
    const blob::Place place(*space, name);
    store::Commit commit;
    commit.put(blob::block_key(place, blob::kBlocksMark),
               record_of(blob::BlocksMark{.id_bytes = id->size()}));
    blob::Block block;
    block.staged = document.object("meta").milliseconds("created");
    if (!block.staged.set()) block.staged = target_.now;
    block.size = chunk.count;
    commit.put(blob::block_key(place, *id), blob::to_record(block, *pieces));
    ++target_.counts.blocks;
    target_.counts.bytes += chunk.count;
    return target_.commit(std::move(commit));
  }

  Target& target_;
  const Database& database_;
  Chunks& chunks_;
  std::map<Owner, store::SpaceId> spaces_;
  std::vector<Chunk> written_;  // What was written last,
  content::Pieces pieces_;      // and as what.
};

}  // namespace

Outcome import_blobs(Target& target, const Database& database, Chunks& chunks) {
  return Blobs(target, database, chunks).run();
}

}  // namespace kyanite::import
