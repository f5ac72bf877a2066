// What belongs together starts; what does not is refused with a sentence, nothing is lost by it,
// and ACCEPT_LOSS is the way out.
#include "engine/opening.h"

#include <gtest/gtest.h>
#include <rocksdb/db.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "engine/sweep.h"
#include "engine/test_location.h"
#include "os/directory.h"
#include "os/fault.h"

namespace kyanite::engine {
namespace {

using store::pattern;
namespace fs = std::filesystem;

constexpr auto kRecursive = fs::copy_options::recursive;

void write_file(const std::string& path, std::string_view text) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
}

void replace(const std::string& part, const std::string& by) {
  fs::remove_all(part);
  fs::copy(by, part, kRecursive);
}

// Of a location in use, whose engine may just be removing a file that it no longer needs.
void copy_running(const std::string& from, const std::string& to) {
  std::error_code vanished;
  for (int tries = 0; tries < 100; ++tries) {
    fs::remove_all(to);
    fs::copy(from, to, kRecursive, vanished);
    if (!vanished) return;
  }
  FAIL() << vanished.message();
}

// Objects with bytes of their own, each in an extent of its own process.
void put_object(Engine& engine, const std::string& name) {
  const auto hold = engine.hold();
  const auto ref = append(engine, pattern(50'000, std::hash<std::string>{}(name)));
  ASSERT_TRUE(ref.ok());
  ASSERT_TRUE(put(engine, name, "v", {*ref}).ok());
}

bool has_object(Engine& engine, const std::string& name) {
  const auto record = get(engine, name);
  if (!record.ok() || *record == nullptr) return false;
  return bytes_of(engine, (*record)->refs.at(0)) == pattern(50'000, std::hash<std::string>{}(name));
}

// A location with objects "a", "b" and "c", one of each of three starts. `older` is a copy as it
// was during the second start, after "b"; `running` during the third, before "c".
class OpeningTest : public testing::Test {
 protected:
  void SetUp() override {
    put_object(*location_.open(), "a");
    {
      auto engine = location_.open();
      put_object(*engine, "b");
      copy_running(location_.path(), older_.path());
    }
    auto engine = location_.open();
    copy_running(location_.path(), running_.path());
    put_object(*engine, "c");
  }

  std::string part(const std::string& name) const { return location_.path() + "/" + name; }

  void expect_refused(const std::string& why) {
    for (int tries = 0; tries < 2; ++tries) {
      auto refused = Engine::open(location_.options());
      ASSERT_FALSE(refused.ok()) << why;
      EXPECT_NE(refused.error().find(why), std::string::npos) << refused.error();
      EXPECT_NE(refused.error().find(location_.path()), std::string::npos) << refused.error();
      EXPECT_NE(refused.error().find("ACCEPT_LOSS"), std::string::npos) << refused.error();
    }
  }
  // It is refused for this reason as long as it is so, and whole when it is undone.
  void expect_refused_until_undone(const std::function<void()>& damage, const std::string& why) {
    TestLocation whole;
    fs::copy(location_.path(), whole.path(), kRecursive);
    damage();
    expect_refused(why);
    for (const char* name : {"records", "extents"}) replace(part(name), whole.path() + "/" + name);
    for (const char* name : {"IDENTITY", "LOGS", "FORMAT"}) {
      fs::copy_file(whole.path() + "/" + name, part(name), fs::copy_options::overwrite_existing);
    }
    expect_whole();
  }
  void expect_whole() {
    auto engine = location_.open();
    EXPECT_TRUE(engine->sweep_now().ok());
    for (const char* name : {"a", "b", "c"}) EXPECT_TRUE(has_object(*engine, name)) << name;
  }
  std::string newest_log() const {
    std::string newest;
    for (const auto& file : fs::directory_iterator(part("records"))) {
      if (file.path().extension() == ".log") newest = std::max(newest, file.path().string());
    }
    return newest;
  }

  TestLocation location_;
  TestLocation older_;
  TestLocation running_;
};

TEST_F(OpeningTest, WhatBelongsTogetherStarts) { expect_whole(); }

TEST_F(OpeningTest, RecordsThatAreMissingAreRefused) {
  expect_refused_until_undone([&] { fs::remove_all(part("records")); }, "records/CURRENT");
  EXPECT_TRUE(fs::exists(location_.extent_path(1)));
  expect_refused_until_undone(
      [&] {
        fs::remove_all(part("records"));
        fs::create_directory(part("records"));
      },
      "records/CURRENT");
  expect_refused_until_undone([&] { fs::remove(part("records/CURRENT")); }, "records/CURRENT");
}

TEST_F(OpeningTest, AnEmptyDatabaseInThePlaceOfTheRecordsIsRefused) {
  expect_refused_until_undone(
      [&] {
        fs::remove_all(part("records"));
        rocksdb::Options options;
        options.create_if_missing = true;
        rocksdb::DB* database = nullptr;
        ASSERT_TRUE(rocksdb::DB::Open(options, part("records"), &database).ok());
        delete database;
      },
      ".log");
}

TEST_F(OpeningTest, OlderRecordsAreRefused) {
  expect_refused_until_undone([&] { replace(part("records"), older_.path() + "/records"); },
                              ".log");
  expect_refused_until_undone([&] { replace(part("records"), running_.path() + "/records"); },
                              ".log");
  // What the ledger does not know the number of the start tells.
  expect_refused_until_undone(
      [&] {
        replace(part("records"), older_.path() + "/records");
        location_.forget_logs();
      },
      "are of start 2 and older");
  // Everything restored but the extents: these have gone on.
  expect_refused_until_undone(
      [&] {
        for (const char* name : {"records", "IDENTITY", "LOGS"})
          replace(part(name), running_.path() + "/" + name);
      },
      "older than the extents");
}

TEST_F(OpeningTest, WhatIsOfAnotherLocationIsRefused) {
  TestLocation other;
  for (int start = 0; start < 3; ++start) put_object(*other.open(), "a");
  expect_refused_until_undone(
      [&] {
        replace(part("records"), other.path() + "/records");
        location_.forget_logs();
      },
      "another data directory");
  expect_refused_until_undone([&] { replace(part("extents"), other.path() + "/extents"); },
                              "extents are those of another data directory");
}

TEST_F(OpeningTest, TheOtherPartsAreMissedToo) {
  expect_refused_until_undone([&] { fs::remove(part("IDENTITY")); }, "IDENTITY is missing");
  expect_refused_until_undone([&] { write_file(part("IDENTITY"), "start 1\n"); },
                              "IDENTITY is damaged");
  expect_refused_until_undone([&] { replace(part("IDENTITY"), older_.path() + "/IDENTITY"); },
                              "older than its records");
  expect_refused_until_undone([&] { fs::remove(part("LOGS")); }, "LOGS");
  expect_refused_until_undone([&] { write_file(part("LOGS"), std::string(512, 'x')); },
                              "LOGS is damaged");
  expect_refused_until_undone([&] { fs::remove_all(part("extents")); }, "and there is none");
}

TEST_F(OpeningTest, ALogThatVanishedOrWasCutIsRefused) {
  expect_refused_until_undone([&] { fs::remove(newest_log()); }, ".log");
  for (const double keep : {0.0, 0.3, 0.9}) {
    expect_refused_until_undone(
        [&] {
          const auto size = static_cast<double>(fs::file_size(newest_log()));
          fs::resize_file(newest_log(), static_cast<uintmax_t>(size * keep));
        },
        "acknowledged commits");
  }
  // With the zeros that are written ahead: its length is right.
  expect_refused_until_undone(
      [&] {
        const auto size = fs::file_size(newest_log());
        fs::resize_file(newest_log(), size / 2);
        fs::resize_file(newest_log(), size);
      },
      "acknowledged commits");
}

TEST_F(OpeningTest, LossIsAcceptedOnce) {
  fs::remove_all(part("records"));
  write_file(part("ACCEPT_LOSS"), "");
  {
    auto engine = location_.open();
    EXPECT_FALSE(fs::exists(part("ACCEPT_LOSS")));
    EXPECT_EQ(get(*engine, "a").value(), nullptr);
    put_object(*engine, "new");
    EXPECT_TRUE(engine->sweep_now().ok());
  }
  {
    auto engine = location_.open();
    EXPECT_TRUE(has_object(*engine, "new"));
  }
  fs::remove_all(part("records"));
  expect_refused("records/CURRENT");
}

TEST_F(OpeningTest, EveryLossCanBeAccepted) {
  const std::function<void()> damages[] = {
      [&] { replace(part("records"), older_.path() + "/records"); },
      [&] { fs::remove(newest_log()); },
      [&] { fs::resize_file(newest_log(), fs::file_size(newest_log()) / 2); },
      [&] { write_file(part("IDENTITY"), "x"); },
      [&] { fs::remove(part("IDENTITY")); },
      [&] { fs::remove(part("LOGS")); },
      [&] { fs::remove_all(part("extents")); },
  };
  TestLocation whole;
  fs::copy(location_.path(), whole.path(), kRecursive);
  for (const auto& damage : damages) {
    damage();
    EXPECT_FALSE(Engine::open(location_.options()).ok());
    write_file(part("ACCEPT_LOSS"), "");
    put_object(*location_.open(), "new");
    EXPECT_TRUE(has_object(*location_.open(), "new"));
    fs::remove_all(location_.path());
    fs::copy(whole.path(), location_.path(), kRecursive);
  }
}

TEST_F(OpeningTest, AStartCutShortIsNoMismatch) {
  // The file is written before the record: as if the process had ended between them, and after.
  auto text = os::read_text(part("IDENTITY")).value();
  const auto start = text.find("start 3\n");
  ASSERT_NE(start, std::string::npos) << text;
  write_file(part("IDENTITY"), text.substr(0, start) + "start 4\nbeginning\n");
  expect_whole();
  text = os::read_text(part("IDENTITY")).value();
  EXPECT_NE(text.find("start 4\n"), std::string::npos) << text;
  write_file(part("IDENTITY"), text.substr(0, text.size() - 1) + "\nbeginning\n");
  expect_whole();
}

TEST_F(OpeningTest, ARepairDoesNotTakeAnotherDatabase) {
  // Somebody removes the records while the engine runs: whatever is there instead is not believed.
  auto engine = location_.open();
  fs::remove_all(part("records"));
  fs::create_directory(part("records"));
  os::set_fault_hook([](os::SystemCall call, std::string_view path) {
    return os::Fault{call == os::SystemCall::kWrite && path.ends_with(".log") ? EIO : 0};
  });
  EXPECT_FALSE(put(*engine, "d", "v").ok());
  os::set_fault_hook({});
  for (int tries = 0; tries < 20; ++tries) EXPECT_FALSE(put(*engine, "d", "v").ok());
  (void)engine->sweep_now().ok();  // What is still open may be read.
  EXPECT_TRUE(fs::exists(location_.extent_path(1)));
  EXPECT_FALSE(fs::exists(part("records/CURRENT")));
}

TEST_F(OpeningTest, AnEarlierFormatIsAdopted) {
  // What this format has beyond the first is taken away.
  {
    rocksdb::DB* database = nullptr;
    ASSERT_TRUE(rocksdb::DB::Open({}, part("records"), &database).ok());
    std::unique_ptr<rocksdb::DB> closing(database);
    ASSERT_TRUE(database->Delete({}, standing_key().bytes()).ok());
  }
  for (ExtentId id = 1; fs::exists(location_.extent_path(id)); ++id) {
    std::fstream file(location_.extent_path(id), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(20);
    file << std::string(20, '\0');
  }
  fs::remove(part("IDENTITY"));
  fs::remove(part("LOGS"));
  write_file(part("FORMAT"), "kyanite 1\n");
  TestLocation without_records;
  fs::copy(location_.path(), without_records.path(), kRecursive);
  fs::remove_all(without_records.path() + "/records");

  expect_whole();
  EXPECT_EQ(os::read_text(part("FORMAT")).value(), "kyanite 2\n");
  expect_whole();
  auto refused = Engine::open(without_records.options());
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().find("records/CURRENT"), std::string::npos) << refused.error();
}

}  // namespace
}  // namespace kyanite::engine
