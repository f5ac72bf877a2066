#include "engine/opening.h"

#include <algorithm>
#include <cerrno>
#include <vector>

#include "base/log.h"
#include "base/random.h"
#include "engine/log_ledger.h"
#include "os/directory.h"

namespace kyanite::engine {

namespace {

using Outcome = Result<void, std::string>;

constexpr std::string_view kAcceptLoss = "ACCEPT_LOSS";
constexpr uint64_t kRoomToOpen = uint64_t{8} << 20;

// Names in a directory that need not exist.
Result<std::vector<std::string>, std::string> names_in(const std::string& directory) {
  auto names = os::list_directory(directory);
  if (names) return std::move(*names);
  if (names.error().code == ENOENT) return std::vector<std::string>();
  return Failure{names.error().what};
}

class Opening {
 public:
  Opening(const Options& options, Location location)
      : options_(options),
        location_(std::move(location)),
        room_(std::make_unique<Room>(location_.path, options.reserve_bytes, options.free_bytes)) {}

  Result<OpenParts, std::string> run() {
    for (auto step : {&Opening::look, &Opening::check_files, &Opening::make_room,
                      &Opening::open_ledger, &Opening::open_records, &Opening::check_records,
                      &Opening::open_extents, &Opening::begin}) {
      if (auto done = (this->*step)(); !done) return Failure{done.error()};
    }
    return OpenParts{std::move(location_), std::move(room_), std::move(records_),
                     std::move(extents_), standing_};
  }

 private:
  // What is wrong is said, or accepted if the operator has said so.
  Outcome refuse(const std::string& what) {
    if (lenient_) {
      log_warning("accepted in " + location_.path + ": " + what);
      return {};
    }
    return Failure{"The data directory " + location_.path + " cannot be used as it is: " + what +
                   ". Put back what is missing, or restore the whole directory from a backup. To "
                   "go on with what is there and lose the rest for good, make an empty file " +
                   std::string(kAcceptLoss) + " in the directory and start again."};
  }
  std::string unopened(const std::string& part, const std::string& why) const {
    return "Cannot open the " + part + " in " + location_.path + " (" + why +
           "): check the disk, or restore the directory from a backup.";
  }
  std::string unwritten(const os::Error& error) const { return unopened("directory", error.what); }

  Outcome look() {
    auto root = names_in(location_.path);
    if (!root) return Failure{unopened("directory", root.error())};
    lenient_ = std::find(root->begin(), root->end(), kAcceptLoss) != root->end();
    auto identity = read_identity(location_.path);
    if (identity) {
      identity_ = *identity;
    } else if (auto refused = refuse(identity.error()); !refused) {
      return refused;
    }
    auto ids = extent_ids(location_.extents());
    if (ids) {
      highest_ = ids->empty() ? 0 : ids->back();
    } else if (ids.error().code != ENOENT) {
      return Failure{unopened("extents", ids.error().what)};
    }
    auto records = names_in(location_.records());
    if (!records) return Failure{unopened("records", records.error())};
    for (const auto& name : *records) {
      has_database_ |= name == "CURRENT";
      has_data_ |= name.ends_with(".sst") || name.ends_with(".log");
    }
    has_data_ |= highest_ != 0;
    return {};
  }

  // A database is only made where there was none.
  Outcome check_files() {
    if (!identity_) {
      if (!has_database_ && !has_data_) return {};
      if (location_.format >= kIdentityFormat) return refuse("its file IDENTITY is missing");
      if (has_database_) return {};  // Of an earlier format.
      return refuse("its records (records/CURRENT) are missing");
    }
    const bool first = identity_->start == 1 && identity_->beginning;
    if (has_database_ || (first && !has_data_)) return {};
    return refuse("its records (records/CURRENT) are missing");
  }

  // On a full disk it starts with the help of the reserve.
  Outcome make_room() {
    room_->look();
    if (room_->make(kRoomToOpen)) return {};
    return Failure{"The disk of the data directory " + location_.path + " is full: make " +
                   std::to_string(kRoomToOpen >> 20) + " MiB of room and start again."};
  }

  Outcome open_ledger() {
    auto opened = LogLedger::open(location_.path);
    if (!opened && identity_) {
      if (auto refused = refuse(opened.error()); !refused) return refused;
    }
    if (!opened || !identity_) {
      if (auto made = LogLedger::create(location_.path); !made)
        return Failure{unwritten(made.error())};
      opened = LogLedger::open(location_.path);
      if (!opened) return Failure{unopened("directory", opened.error())};
    }
    ledger_ = std::move(*opened);
    if (lenient_) ledger_->accept_loss();
    return {};
  }

  Outcome open_records() {
    if (!identity_ && !has_database_) {
      // Before the database, so that a first start cut short is known for one.
      identity_ = Identity{random_bytes(kLocationIdBytes), 1, true};
      if (auto written = write_identity(location_.path, *identity_); !written)
        return Failure{unwritten(written.error())};
    }
    for (const auto& part : {location_.records(), location_.extents()}) {
      if (auto made = os::make_directories(part); !made) return Failure{unwritten(made.error())};
    }
    auto records = Records::open({.directory = location_.records(),
                                  .block_cache_bytes = options_.block_cache_bytes,
                                  .most_open_files = share_descriptors(options_.descriptors).tables,
                                  .create = !has_database_,
                                  .room = room_.get()},
                                 std::move(ledger_));
    if (!records) {
      const auto& [why, lost] = records.error();
      return lost ? refuse(why) : Failure{unopened("records", why)};
    }
    records_ = std::move(*records);
    return {};
  }

  Outcome check_records() {
    auto record = records_->get(standing_key().bytes());
    if (!record) return Failure{unopened("records", store::describe(record.error()))};
    std::optional<Standing> standing;
    if (*record != nullptr) {
      standing = standing_of(**record);
      if (!standing) return Failure{unopened("records", "their record of the location is damaged")};
    }
    if (auto wrong = mismatch(identity_, standing)) {
      if (auto refused = refuse(*wrong); !refused) return refused;
    }
    if (standing) {
      if (auto wrong = mismatch(*standing, highest_)) {
        if (auto refused = refuse(*wrong); !refused) return refused;
      }
      standing_ = *standing;
    }
    if (identity_) {
      standing_.location = identity_->location;
    } else if (!standing) {
      standing_.location = random_bytes(kLocationIdBytes);
    }
    standing_.announced = std::max(standing_.announced, highest_);
    standing_.made = highest_;
    if (identity_ && lenient_) standing_.start = std::max(standing_.start, identity_->start);
    return {};
  }

  Outcome open_extents() {
    auto extents = Extents::open({.directory = location_.extents(),
                                  .location = standing_.location,
                                  .extent_bytes = options_.extent_bytes,
                                  .most_open = share_descriptors(options_.descriptors).extents,
                                  .next = std::max(highest_, standing_.announced) + 1,
                                  .room = room_.get()});
    if (highest_ != 0) {
      auto file = extents->open_file(highest_);
      if (!file) return Failure{unopened("extents", file.error().what)};
      if (extents->is_foreign(**file)) {
        auto refused = refuse("its extents are those of another data directory");
        if (!refused) return refused;
      }
    }
    extents_ = std::move(extents);
    return {};
  }

  // What goes on from here may use the names of tables that a backup has, for others.
  Outcome forget_backups() {
    auto done = os::remove_file(location_.path + "/" + kBackupsName);
    if (done) done = os::sync_directory(location_.path);
    if (!done) return Failure{unwritten(done.error())};
    return {};
  }

  // The file first, then the record: a crash between them leaves the file one ahead and saying so.
  Outcome begin() {
    if (lenient_) {
      if (auto forgotten = forget_backups(); !forgotten) return forgotten;
    }
    standing_.start += 1;
    Identity identity{standing_.location, standing_.start, true};
    if (auto written = write_identity(location_.path, identity); !written)
      return Failure{unwritten(written.error())};
    if (auto adopted = records_->adopt(standing_); !adopted)
      return Failure{unopened("records", store::describe(adopted.error()))};
    identity.beginning = false;
    if (auto written = write_identity(location_.path, identity); !written)
      return Failure{unwritten(written.error())};
    if (auto marked = raise_format(location_); !marked) return Failure{marked.error()};
    auto done = os::remove_file(location_.path + "/" + std::string(kAcceptLoss));
    if (!done) return Failure{unwritten(done.error())};
    return {};
  }

  const Options& options_;
  Location location_;
  bool lenient_ = false;
  std::optional<Identity> identity_;
  ExtentId highest_ = 0;
  bool has_database_ = false;
  bool has_data_ = false;
  std::unique_ptr<Room> room_;
  std::unique_ptr<LogLedger> ledger_;
  std::unique_ptr<Records> records_;
  Standing standing_;
  std::unique_ptr<Extents> extents_;
};

}  // namespace

Result<OpenParts, std::string> open_parts(const Options& options) {
  auto location = open_location(options.location);
  if (!location) return Failure{location.error()};
  return Opening(options, std::move(*location)).run();
}

}  // namespace kyanite::engine
