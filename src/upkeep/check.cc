#include "upkeep/check.h"

#include <algorithm>
#include <optional>

#include "blob/place.h"
#include "blob/records.h"
#include "content/leaves.h"
#include "engine/codec.h"
#include "engine/extents.h"
#include "engine/frozen_records.h"
#include "engine/identity.h"
#include "engine/log_audit.h"
#include "queue/place.h"
#include "queue/records.h"
#include "store/fields.h"
#include "upkeep/pace.h"
#include "upkeep/record_kinds.h"
#include "upkeep/runs.h"
#include "upkeep/spaces.h"
#include "upkeep/words.h"

namespace kyanite::upkeep {

namespace {

using engine::FrozenRecords;
using engine::Gap;

constexpr const char* kDirectory = "the data directory";

class Check {
 public:
  Check(const Pinned& pinned, const CheckOptions& options)
      : pinned_(pinned),
        options_(options),
        pace_(options.bytes_per_second),
        runs_(pinned.extents(), pace_) {}

  CheckCounts run() {
    auto records = FrozenRecords::open(pinned_.records(), FrozenRecords::Care::kDamaged);
    if (!records) {
      report("everything in the data directory",
             "the records cannot be opened: " + records.error());
      return counts_;
    }
    records_ = std::move(*records);
    spaces_.emplace(*records_, options_.accounts);
    words_.emplace(*records_, *spaces_);
    check_witnesses();
    check_logs();
    check_tables();
    check_records();
    return counts_;
  }

 private:
  void report(std::string object, std::string what) {
    ++counts_.damages;
    options_.damage({std::move(object), std::move(what)});
  }
  void report(const Gap& gap, const std::string& what) {
    for (auto& object : words_->objects_in(gap)) report(std::move(object), what);
  }
  void progress() {
    counts_.bytes = runs_.bytes();
    options_.progress(counts_);
  }

  // What says that all parts belong together.
  void check_witnesses() {
    auto identity = engine::read_identity(pinned_.root());
    if (!identity) report(kDirectory, identity.error());
    auto record = records_->get(engine::standing_key());
    if (!record) return report(kDirectory, "the records' own account of it cannot be read");
    std::optional<engine::Standing> standing;
    if (*record != nullptr) standing = engine::standing_of(**record);
    if (identity) {
      if (auto wrong = engine::mismatch(*identity, standing)) report(kDirectory, *wrong);
    }
    auto ids = engine::extent_ids(pinned_.extents());
    if (!ids) return report(kDirectory, ids.error().what);
    if (!standing) return;
    // A server that is running has made further ones.
    uint64_t highest = ids->empty() ? 0 : ids->back();
    if (pinned_.served()) highest = std::min(highest, standing->announced);
    if (auto wrong = engine::mismatch(*standing, highest)) report(kDirectory, *wrong);
  }

  void check_logs() {
    auto damages = engine::audit_logs(pinned_.root(), pinned_.records());
    if (!damages) return report(kDirectory, damages.error());
    for (const auto& [log, what, keys] : *damages) {
      const std::string where = "the log " + log + ": " + what;
      if (keys.empty()) report("what was written last, which cannot be told in particular", where);
      std::vector<std::string> objects;
      for (const auto& key : keys) {
        auto object = words_->object_of(key);
        if (std::find(objects.begin(), objects.end(), object) != objects.end()) continue;
        report(object, where);
        objects.push_back(std::move(object));
      }
    }
  }

  void check_tables() {
    for (const auto& table : records_->tables()) {
      records_->check_table(table, [&](const Gap& gap) {
        tables_damaged_ = true;
        report(gap, "the table " + table.name + ": " + gap.why);
      });
      ++counts_.tables;
      pace_.moved(table.bytes);
      progress();
    }
  }

  void check_records() {
    const auto see = [this](std::string_view key, std::string_view bytes) {
      pace_.moved(key.size() + bytes.size());
      check_record(key, bytes);
      return true;
    };
    const auto gap = [this](const Gap& each) {
      // Said of the table already.
      if (!tables_damaged_) report(each, "records cannot be read: " + each.why);
    };
    records_->scan({}, {}, see, gap);
    progress();
  }

  void check_record(std::string_view bytes, std::string_view stored) {
    if (++counts_.records % 64 == 0) progress();
    const auto record = engine::decode_record(stored);
    if (!record) return report(words_->object_of(bytes), "its record is of no known format");
    const auto key = store::Key::from_bytes(std::string(bytes));
    const auto kind = kind_of(key.space());
    if (!is_readable(kind, key, *record))
      return report(words_->object_of(bytes), "its record cannot be understood");
    check_runs(bytes, record->refs);
    if (kind == Kind::kContainer || kind == Kind::kLake) check_head(kind, key, *record);
    if (kind == Kind::kQueue) check_message(key, *record);
  }

  // Records of one space follow each other.
  Kind kind_of(store::SpaceId space) {
    if (!kind_ || space_ != space) kind_ = spaces_->of(space).kind;
    space_ = space;
    return *kind_;
  }

  void check_runs(std::string_view key, const std::vector<store::Ref>& refs) {
    size_t bad = 0;
    std::string first;
    for (const auto& ref : refs) {
      ++counts_.runs;
      const auto problem = runs_.problem(ref);
      if (problem && ++bad == 1) first = *problem;
    }
    if (bad == 0) return;
    const std::string others =
        bad == 1 ? "" : ", and " + std::to_string(bad - 1) + " more runs likewise";
    report(words_->object_of(key), first + others);
  }

  // Whether the content that a blob names is there. Sparse content need not be.
  void check_head(Kind kind, const store::Key& key, const store::Record& record) {
    if (key.family() != blob::kHeads) return;
    const auto blob = store::decode<blob::Blob>(record.value);
    if (blob->content.id == 0 || blob->content.sparse || blob->content.leaves == 0) return;
    const std::string named = key.partition();
    std::string own = named;
    if (kind == Kind::kLake && key.row().empty()) {
      own.clear();
      append_be64(own, blob->node_id);
    }
    const auto range = content::leaf_range({key.space(), own}, blob->content.id);
    uint64_t leaves = 0;
    uint64_t end = 0;
    const auto see = [&](std::string_view leaf, std::string_view) {
      // Appended to since this state was kept.
      if (content::leaf_mark(leaf) > blob->content.length) return false;
      ++leaves;
      end = content::leaf_mark(leaf);
      return true;
    };
    bool damaged = false;
    records_->scan(range.from(), range.to(), see, [&](const Gap&) { damaged = true; });
    if (!damaged && leaves >= blob->content.leaves && end == blob->content.length) return;
    report(words_->object_of(key.bytes()), "of the list of its content " + std::to_string(leaves) +
                                               " of " + std::to_string(blob->content.leaves) +
                                               " parts are there");
  }

  void check_message(const store::Key& key, const store::Record& record) {
    if (key.family() == queue::kTexts) return;
    const auto message = store::decode<queue::Message>(record.value);
    if (!message->text_apart) return;
    const auto text =
        records_->get(queue::text_key(key.space(), queue::position_of(key.bytes()).id));
    if (!text || *text == nullptr) report(words_->object_of(key.bytes()), "its text is missing");
  }

  const Pinned& pinned_;
  const CheckOptions& options_;
  Pace pace_;
  Runs runs_;
  std::unique_ptr<FrozenRecords> records_;
  std::optional<Spaces> spaces_;
  std::optional<Words> words_;
  CheckCounts counts_;
  bool tables_damaged_ = false;
  std::optional<Kind> kind_;  // of the space
  store::SpaceId space_ = 0;
};

}  // namespace

CheckCounts check(const Pinned& pinned, const CheckOptions& options) {
  return Check(pinned, options).run();
}

}  // namespace kyanite::upkeep
