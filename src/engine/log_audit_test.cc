#include "engine/log_audit.h"

#include <gtest/gtest.h>
#include <rocksdb/write_batch.h>

#include "engine/frozen_records.h"
#include "engine/log_ledger.h"
#include "engine/test_location.h"
#include "os/directory.h"

namespace kyanite::engine {

namespace {

// A log with commits, as a process that was killed leaves it: of a copy, since a live one locks it.
struct Logged {
  Logged() {
    auto engine = location.open();
    for (int i = 0; i < 50; ++i)
      EXPECT_TRUE(put(*engine, "name-" + std::to_string(i), std::string(2000, 'a')).ok());
    std::filesystem::copy(location.path(), copy.path(),
                          std::filesystem::copy_options::recursive |
                              std::filesystem::copy_options::overwrite_existing);
    synced = *LogLedger::read(copy.path());
  }
  std::string log_path(uint64_t number) const {
    return copy.path() + "/records/" + LogLedger::log_name(number);
  }
  TestLocation location;
  TestLocation copy;
  LogLedger::Synced synced;
};

TEST(LogAudit, NamesTheCommitOfEverySpoiltByte) {
  const Logged logged;
  const auto found = audit_logs(logged.copy.path(), logged.copy.path() + "/records");
  ASSERT_TRUE(found.ok());
  EXPECT_TRUE(found->empty());
  const auto [number, bytes] = *logged.synced.rbegin();
  const auto log = *os::read_text(logged.log_path(number));
  size_t named = 0;
  size_t tried = 0;
  for (size_t at = 0; at < bytes; at += 97, ++tried) {
    std::string spoilt = log;
    spoilt[at] = static_cast<char>(spoilt[at] ^ 0x10);
    const auto damages = audit_log("x.log", spoilt, bytes);
    ASSERT_FALSE(damages.empty()) << at;
    // The name is in the batch that the byte is in; a few bytes are the name itself.
    const size_t before = log.rfind("name-", at);
    if (before == std::string::npos || before + 8 > at) continue;
    const std::string name = log.substr(before, log.find('\0', before) - before);
    for (const auto& key : damages.front().keys) named += key == test_key(name).bytes();
  }
  EXPECT_GT(named, tried * 8 / 10);
}

TEST(LogAudit, WhatIsMissingIsTold) {
  const Logged logged;
  const auto [number, bytes] = *logged.synced.rbegin();
  const auto log = *os::read_text(logged.log_path(number));
  EXPECT_FALSE(audit_log("x.log", log.substr(0, bytes / 2), bytes).empty());
  EXPECT_TRUE(audit_log("x.log", log, bytes).empty());
  ASSERT_TRUE(os::remove_file(logged.log_path(number)).ok());
  const auto found = audit_logs(logged.copy.path(), logged.copy.path() + "/records");
  ASSERT_TRUE(found.ok());
  ASSERT_EQ(found->size(), 1u);
  EXPECT_EQ(found->front().log, LogLedger::log_name(number));
}

TEST(FrozenRecords, PassesOverWhatIsDamagedAndChangesNothing) {
  const TestLocation location;
  {
    auto engine = location.open();
    for (int i = 0; i < 500; ++i)
      ASSERT_TRUE(put(*engine, "name-" + std::to_string(1000 + i),
                      std::to_string(i) + std::string(500, 'x'))
                      .ok());
  }
  const std::string directory = location.path() + "/records";
  // Opened once more, the records are in a table.
  { auto engine = location.open(); }
  auto whole = FrozenRecords::open(directory, FrozenRecords::Care::kWhole);
  ASSERT_TRUE(whole.ok()) << whole.error();
  const auto tables = (*whole)->tables();
  ASSERT_FALSE(tables.empty());
  const auto seen = [&](FrozenRecords& records, std::vector<Gap>& gaps) {
    size_t count = 0;
    records.scan(
        {}, {}, [&](std::string_view, std::string_view) { return ++count != 0; },
        [&](const Gap& gap) { gaps.push_back(gap); });
    return count;
  };
  std::vector<Gap> gaps;
  EXPECT_EQ(seen(**whole, gaps), 501u);  // and that of the location
  EXPECT_TRUE(gaps.empty());

  const std::string path = directory + "/" + tables.front().name;
  std::string bytes = *os::read_text(path);
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  auto file = *os::File::open(path, os::File::Mode::kReadWrite);
  ASSERT_TRUE(file->write_at(bytes, 0).ok());
  auto damaged = FrozenRecords::open(directory, FrozenRecords::Care::kDamaged);
  ASSERT_TRUE(damaged.ok());
  const size_t left = seen(**damaged, gaps);
  ASSERT_EQ(gaps.size(), 1u);
  EXPECT_LT(left, 501u);
  EXPECT_GT(left, 400u);
  // All that is missing lies in the gap, which is no wider than it must be.
  ASSERT_TRUE(gaps[0].before);
  const auto number = [](const std::string& key) {
    return std::stoi(store::Key::from_bytes(key).partition().substr(5));
  };
  EXPECT_EQ(static_cast<size_t>(number(*gaps[0].before) - number(gaps[0].after) - 1), 501 - left);
  gaps.clear();
  (*damaged)->check_table(tables.front(), [&](const Gap& gap) { gaps.push_back(gap); });
  EXPECT_EQ(gaps.size(), 1u);
}

}  // namespace

}  // namespace kyanite::engine
