#include "upkeep/backup.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/bytes.h"
#include "base/random.h"
#include "engine/codec.h"
#include "engine/extents.h"
#include "engine/frozen_records.h"
#include "engine/identity.h"
#include "engine/log_audit.h"
#include "engine/pin.h"
#include "os/directory.h"
#include "upkeep/backup_history.h"
#include "upkeep/backup_list.h"
#include "upkeep/backup_place.h"

namespace kyanite::upkeep {

namespace {

using Outcome = Result<void, std::string>;

class Backup {
 public:
  Backup(const Pinned& pinned, BackupPlace& place, const BackupOptions& options)
      : pinned_(pinned), place_(place), options_(options), pace_(options.bytes_per_second) {}

  Result<BackupCounts, std::string> run() {
    for (auto step : {&Backup::open_target, &Backup::look_at_records, &Backup::copy_root,
                      &Backup::copy_records, &Backup::copy_extents, &Backup::finish}) {
      if (auto done = (this->*step)(); !done)
        return Failure{"The backup to " + place_.name() + " failed: " + done.error() +
                       ". The former one, if there is one, is untouched."};
    }
    return counts_;
  }

 private:
  Outcome open_target() {
    // Before a lock is made in it, which would not belong there; and again under the lock.
    if (auto read = read_former(); !read) return read;
    if (auto locked = place_.lock(); !locked) return locked;
    if (auto read = read_former(); !read) return read;
    if (auto same = check_identity(); !same) return same;
    list_.target = former_.target.empty() ? hex(random_bytes(16)) : former_.target;
    list_.id = hex(random_bytes(16));
    list_.number = former_.number + 1;
    // Files with equal names are equal only if this directory has gone on from that backup.
    continues_ = !former_.id.empty() &&
                 last_backup(pinned_.location(), former_.target) == std::optional(former_.id);
    // What a backup that failed has left.
    return remove_unlisted(former_);
  }

  Outcome read_former() {
    auto former = read_backup_list(place_);
    if (!former) return Failure{former.error()};
    former_ = former->value_or(BackupList());
    if (*former) return {};
    auto others = place_.has_others();
    if (!others) return Failure{others.error()};
    if (*others) return Failure{std::string("the directory is not empty and holds no backup")};
    return {};
  }

  // A backup of something else is not what it replaces.
  Outcome check_identity() {
    const auto former = former_.files.find("IDENTITY");
    if (former == former_.files.end()) return {};
    auto text = place_.read(stored_name(former->first, former->second));
    if (!text) return Failure{text.error()};
    const auto theirs = *text ? engine::parse_identity(**text) : std::nullopt;
    auto ours = engine::read_identity(pinned_.root());
    if (!ours) return Failure{ours.error()};
    if (theirs && *ours && theirs->location == (*ours)->location) return {};
    return Failure{std::string(
        "it holds backups of another data directory; an empty or new place takes those of this")};
  }

  Outcome look_at_records() {
    auto damages = engine::audit_logs(pinned_.root(), pinned_.records());
    if (!damages) return Failure{damages.error()};
    if (!damages->empty())
      return Failure{"the log " + damages->front().log + " is damaged: " + damages->front().what};
    auto records =
        engine::FrozenRecords::open(pinned_.records(), engine::FrozenRecords::Care::kWhole);
    if (!records)
      return Failure{"the records cannot be opened (" + records.error() +
                     "); kyanite check says more"};
    auto record = (*records)->get(engine::standing_key());
    std::optional<engine::Standing> standing;
    if (record && *record != nullptr) standing = engine::standing_of(**record);
    if (!standing) return Failure{std::string("the records do not know their directory")};
    standing_ = *standing;
    return find_extents(**records);
  }

  // Those that records list.
  Outcome find_extents(const engine::FrozenRecords& records) {
    std::optional<std::string> wrong;
    const auto see = [&](std::string_view key, std::string_view bytes) {
      pace_.moved(key.size() + bytes.size());
      const auto refs = engine::decode_refs(bytes);
      if (!refs) wrong = "a record is of no known format";
      if (!refs) return false;
      for (const auto& ref : *refs) listed_.insert(ref.extent);
      return true;
    };
    records.scan({}, {}, see, [&](const engine::Gap& gap) { wrong = gap.why; });
    if (wrong) return Failure{*wrong + "; kyanite check says more"};
    return {};
  }

  Outcome copy_root() {
    for (const std::string name : {"FORMAT", "IDENTITY", "LOGS"}) {
      if (auto copied = copy(pinned_.root() + "/" + name, name, false); !copied) return copied;
    }
    return {};
  }

  Outcome copy_records() {
    auto names = os::list_directory(pinned_.records());
    if (!names) return Failure{names.error().what};
    std::sort(names->begin(), names->end());
    for (const auto& name : *names) {
      if (name == "LOCK" || name == "LOG" || name.starts_with("OPTIONS-")) continue;
      auto copied = copy(pinned_.records() + "/" + name, "records/" + name, name.ends_with(".sst"));
      if (!copied) return copied;
    }
    return {};
  }

  // Those that the records list, and the last that they know of, by which it is seen that extents
  // and records are of one time. What is appended to them meanwhile does not matter.
  Outcome copy_extents() {
    auto ids = engine::extent_ids(pinned_.extents());
    if (!ids) return Failure{ids.error().what};
    std::string open;  // Names of those that are being written.
    if (pinned_.served()) {
      auto text = os::read_text(pinned_.root() + "/" + engine::kOpenExtents);
      if (!text) return Failure{text.error().what};
      open = std::move(*text);
    }
    std::erase_if(*ids, [&](uint64_t id) { return id > standing_.announced; });
    // Of one that no record lists it is not known whether it was there when the instant was kept.
    std::optional<uint64_t> witness;
    if (!ids->empty() && listed_.insert(ids->back()).second) witness = ids->back();
    for (const uint64_t id : listed_) {
      const std::string name = engine::extent_name(id);
      const bool unsure = pinned_.served() && witness == id;
      const bool final = !unsure && open.find(name) == std::string::npos;
      auto copied = copy(pinned_.extents() + "/" + name, "extents/" + name, final);
      if (!copied) return copied;
    }
    return {};
  }

  // Neither side has been cut short since.
  bool is_kept(const std::string& from, const std::string& name, const BackupFile& former) const {
    const auto there = there_.find(stored_name(name, former));
    if (there == there_.end() || there->second != former.bytes) return false;
    const auto file = os::File::open(from, os::File::Mode::kRead);
    const auto status = file ? (*file)->status() : Failure{file.error()};
    return status && status->size == former.bytes;
  }

  Outcome copy(const std::string& from, const std::string& name, bool final) {
    const auto former = former_.files.find(name);
    BackupFile file;
    if (continues_ && final && former != former_.files.end() && former->second.final &&
        is_kept(from, name, former->second)) {
      file = former->second;
    } else {
      file.number = list_.number;
      file.final = final;
      auto copied = place_.put(from, stored_name(name, file), pace_);
      if (!copied) return Failure{copied.error()};
      file.bytes = copied->bytes;
      file.crc32c = copied->crc32c;
      ++counts_.copied_files;
      counts_.copied_bytes += file.bytes;
    }
    list_.files[name] = file;
    ++counts_.files;
    counts_.bytes += file.bytes;
    options_.progress(counts_);
    return {};
  }

  Outcome finish() {
    // Otherwise what was copied may have been reclaimed meanwhile.
    if (!pinned_.lasts()) return Failure{std::string("the server was stopped meanwhile")};
    const std::string text = text_of(list_);
    if (text.size() > kMaxBackupListBytes) return Failure{std::string("it has too many files")};
    if (auto replaced = place_.replace_list(text); !replaced) return replaced;
    // From here on it is there. If this is not noted, the next one copies everything again.
    (void)note_backup(pinned_.location(), list_.target, list_.id);
    (void)remove_unlisted(list_);
    return {};
  }

  Outcome remove_unlisted(const BackupList& list) {
    std::set<std::string> kept;
    for (const auto& [name, file] : list.files) kept.insert(stored_name(name, file));
    auto found = place_.list();
    if (!found) return Failure{found.error()};
    for (const auto& [name, bytes] : *found) {
      if (kept.contains(name)) continue;
      if (auto removed = place_.remove(name); !removed) return removed;
    }
    there_ = std::move(*found);
    return {};
  }

  const Pinned& pinned_;
  BackupPlace& place_;
  const BackupOptions& options_;
  Pace pace_;
  BackupList former_;
  BackupList list_;
  std::map<std::string, uint64_t> there_;  // What lies in the place, and how long it is.
  bool continues_ = false;
  engine::Standing standing_;
  std::set<uint64_t> listed_;  // extents
  BackupCounts counts_;
};

}  // namespace

Result<BackupCounts, std::string> back_up(const Pinned& pinned, BackupPlace& place,
                                          const BackupOptions& options) {
  return Backup(pinned, place, options).run();
}

}  // namespace kyanite::upkeep
