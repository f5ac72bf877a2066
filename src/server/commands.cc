#include "server/commands.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>

#include "engine/location.h"
#include "import/azurite.h"
#include "os/directory.h"
#include "server/command_line.h"
#include "server/root_certificates.h"
#include "upkeep/backup.h"
#include "upkeep/backup_list.h"
#include "upkeep/check.h"
#include "upkeep/migrate.h"
#include "upkeep/pinned.h"

namespace kyanite::server {

namespace {

// Beside a server that others use.
constexpr uint64_t kServedBytesPerSecond = uint64_t{100} << 20;

constexpr const char* kSasVariable = "KYANITE_BACKUP_SAS";

constexpr const char* kCheckHelp = R"(Usage: kyanite check [-l DIR] [--config FILE] [--rate MIB]
       kyanite check BACKUP

Holds everything in the data directory DIR (./data) against its checksums, whether a server runs
on it or not, and says which objects are affected by what is damaged. Changes nothing. Of a
directory that holds a backup, or of the URL of a container (its SAS may be in
KYANITE_BACKUP_SAS), it checks the files of the backup.

  --config FILE   names the accounts; so does KYANITE_ACCOUNTS or AZURITE_ACCOUNTS. Names are
                  not stored.
  --rate MIB      read at most so many MiB a second (100 while a server runs; 0: no limit)

Exit code: 0 nothing is damaged, 1 it could not be checked, 2 something is damaged.
)";

constexpr const char* kBackupHelp = R"(Usage: kyanite backup BACKUP [-l DIR] [--rate MIB]

Copies the data directory DIR (./data) as it is now to BACKUP, whether a server runs on it or not.
BACKUP is a directory, or the URL of a container with a SAS, of Azure Storage or another Kyanite.
A URL without a query gets the SAS in KYANITE_BACKUP_SAS, which other users cannot see.
What a former backup in BACKUP has already is not copied again. The former one is whole until the
new one is. kyanite restore BACKUP DIR makes a data directory of it.

  --rate MIB      read at most so many MiB a second (100 while a server runs; 0: no limit)
)";

constexpr const char* kRestoreHelp = R"(Usage: kyanite restore BACKUP DIR

Makes a data directory of the backup in BACKUP, a directory or the URL of a container, in the
directory DIR, which is empty or new. A URL without a query gets the SAS in KYANITE_BACKUP_SAS,
which other users cannot see.
)";

constexpr const char* kMigrateHelp = R"(Usage: kyanite migrate [-l DIR] [--dryRun]

Says which format the data directory DIR (./data) of a stopped server has and brings it to the
newest that this version knows. With --dryRun it only says what it would do.
)";

constexpr const char* kImportHelp = R"(Usage: kyanite import azurite FROM [-l DIR]

Brings the data directory FROM of Azurite (3.37; stopped) over into the new data directory DIR
(./data): blobs, queues and tables, with snapshots, uncommitted blocks and messages. FROM is left
as it is.
)";

int help(const char* text) {
  std::fputs(text, stdout);
  return EXIT_SUCCESS;
}

// Shows how far it is, now and then: often on a terminal.
class Progress {
 public:
  void show(const std::function<std::string()>& text) {
    const auto now = std::chrono::steady_clock::now();
    if (now - shown_ < (terminal_ ? std::chrono::milliseconds(500) : std::chrono::seconds(30)))
      return;
    shown_ = now;
    std::fprintf(stderr, terminal_ ? "\r\033[K%s" : "%s\n", text().c_str());
  }
  void end() const {
    if (terminal_) std::fputs("\r\033[K", stderr);
  }

 private:
  const bool terminal_ = isatty(STDERR_FILENO) == 1;
  std::chrono::steady_clock::time_point shown_ = std::chrono::steady_clock::now();
};

std::string mebibytes(uint64_t bytes) { return std::to_string(bytes >> 20) + " MiB"; }

upkeep::BackupOptions backup_options(Progress& progress, uint64_t bytes_per_second) {
  return {bytes_per_second, [&progress](const upkeep::BackupCounts& counts) {
            progress.show([&] {
              return std::to_string(counts.files) + " files, " + mebibytes(counts.bytes);
            });
          }};
}

int check_backup_files(upkeep::BackupPlace& place, uint64_t bytes_per_second) {
  Progress progress;
  uint64_t damages = 0;
  const auto damage = [&](const std::string& what) {
    progress.end();
    std::printf("damaged: the backup in %s: %s\n", place.name().c_str(), what.c_str());
    ++damages;
  };
  auto done = upkeep::check_backup(place, damage, backup_options(progress, bytes_per_second));
  progress.end();
  if (!done) return fail_command(done.error());
  std::printf("Checked %llu files of the backup, %s: %llu damaged.\n",
              static_cast<unsigned long long>(done->files), mebibytes(done->bytes).c_str(),
              static_cast<unsigned long long>(damages));
  return damages == 0 ? EXIT_SUCCESS : kDamagedExit;
}

// A URL without a SAS gets that of the environment, where other users do not see it.
std::string with_sas(const std::string& where) {
  const char* given = std::getenv(kSasVariable);
  std::string_view sas = given == nullptr ? "" : given;
  if (sas.starts_with('?')) sas.remove_prefix(1);
  const bool is_url = where.find("://") != std::string::npos;
  if (sas.empty() || !is_url || where.find('?') != std::string::npos) return where;
  return where + "?" + std::string(sas);
}

Result<std::unique_ptr<upkeep::BackupPlace>, std::string> open_place(const std::string& where) {
  find_root_certificates();
  auto place = upkeep::BackupPlace::open(with_sas(where));
  if (!place) return Failure{place.error() + "."};
  return place;
}

}  // namespace

int check_command(const std::vector<std::string>& arguments) {
  auto line = parse_command_line(arguments, "--location --config --rate", 0, 1);
  if (!line) return fail_command(line.error());
  if (line->help) return help(kCheckHelp);
  const std::string directory = line->words.empty() ? line->location : line->words.front();
  auto place = open_place(directory);
  if (!place) return fail_command(place.error());
  auto backup = upkeep::read_backup_list(**place);
  if (!backup) return fail_command("the backup in " + (*place)->name() + ": " + backup.error());
  if (*backup) return check_backup_files(**place, line->bytes_per_second.value_or(0));

  auto pinned = upkeep::Pinned::make(directory);
  if (!pinned) return fail_command(pinned.error());
  Progress progress;
  upkeep::CheckOptions options;
  options.accounts = line->accounts;
  options.bytes_per_second =
      line->bytes_per_second.value_or(pinned->served() ? kServedBytesPerSecond : 0);
  options.damage = [&](const upkeep::Damage& damage) {
    progress.end();
    std::printf("damaged: %s: %s\n", damage.object.c_str(), damage.what.c_str());
  };
  options.progress = [&](const upkeep::CheckCounts& counts) {
    progress.show([&] {
      return std::to_string(counts.records) + " records, " + std::to_string(counts.runs) +
             " runs, " + mebibytes(counts.bytes);
    });
  };
  const auto counts = upkeep::check(*pinned, options);
  progress.end();
  if (!pinned->lasts()) return fail_command("the server was stopped meanwhile: check again.");
  std::printf("Checked %llu tables, %llu records and %llu runs of %s: %llu damages.\n",
              static_cast<unsigned long long>(counts.tables),
              static_cast<unsigned long long>(counts.records),
              static_cast<unsigned long long>(counts.runs), mebibytes(counts.bytes).c_str(),
              static_cast<unsigned long long>(counts.damages));
  return counts.damages == 0 ? EXIT_SUCCESS : kDamagedExit;
}

int backup_command(const std::vector<std::string>& arguments) {
  os::keep_private();
  auto line = parse_command_line(arguments, "--location --rate", 1, 1);
  if (!line) return fail_command(line.error());
  if (line->help) return help(kBackupHelp);
  auto place = open_place(line->words.front());
  if (!place) return fail_command(place.error());
  auto pinned = upkeep::Pinned::make(line->location);
  if (!pinned) return fail_command(pinned.error());
  std::printf("Keeping this instant of %s.\n", line->location.c_str());
  std::fflush(stdout);
  Progress progress;
  const uint64_t rate =
      line->bytes_per_second.value_or(pinned->served() ? kServedBytesPerSecond : 0);
  auto done = upkeep::back_up(*pinned, **place, backup_options(progress, rate));
  progress.end();
  if (!done) return fail_command(done.error());
  std::printf("Backed up %llu files, %s, of which %llu files, %s, were copied now.\n",
              static_cast<unsigned long long>(done->files), mebibytes(done->bytes).c_str(),
              static_cast<unsigned long long>(done->copied_files),
              mebibytes(done->copied_bytes).c_str());
  return EXIT_SUCCESS;
}

int restore_command(const std::vector<std::string>& arguments) {
  os::keep_private();
  auto line = parse_command_line(arguments, "", 2, 2);
  if (!line) return fail_command(line.error());
  if (line->help) return help(kRestoreHelp);
  auto place = open_place(line->words[0]);
  if (!place) return fail_command(place.error());
  Progress progress;
  auto done = upkeep::restore(**place, line->words[1], backup_options(progress, 0));
  progress.end();
  if (!done) return fail_command(done.error());
  std::printf("Restored %llu files, %s, to %s.\n", static_cast<unsigned long long>(done->files),
              mebibytes(done->bytes).c_str(), line->words[1].c_str());
  return EXIT_SUCCESS;
}

int migrate_command(const std::vector<std::string>& arguments) {
  auto line = parse_command_line(arguments, "--location --dryRun", 0, 0);
  if (!line) return fail_command(line.error());
  if (line->help) return help(kMigrateHelp);
  auto done = upkeep::migrate(line->location, line->dry_run);
  if (!done) return fail_command(done.error());
  std::printf("%s\n", done->text.c_str());
  return EXIT_SUCCESS;
}

int import_command(const std::vector<std::string>& arguments) {
  os::keep_private();
  auto line = parse_command_line(arguments, "--location", 2, 2);
  if (!line) return fail_command(line.error());
  if (line->help) return help(kImportHelp);
  if (line->words[0] != "azurite")
    return fail_command("only directories of Azurite are known: kyanite import azurite FROM");
  auto done = import::import_azurite(line->words[1], line->location);
  if (!done) return fail_command(done.error());
  const auto count = [](uint64_t number, const char* what) {
    return std::to_string(number) + " " + what;
  };
  const std::string text =
      count(done->containers, "containers, ") + count(done->blobs, "blobs and snapshots, ") +
      count(done->blocks, "uncommitted blocks, ") + count(done->queues, "queues, ") +
      count(done->messages, "messages, ") + count(done->tables, "tables, ") +
      count(done->entities, "entities, ") + mebibytes(done->bytes);
  std::printf("Brought over %s. Serve it with: kyanite --location %s\n", text.c_str(),
              line->location.c_str());
  return EXIT_SUCCESS;
}

}  // namespace kyanite::server
