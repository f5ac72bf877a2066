// The File service as a whole: the tree, renames, snapshots, and what stays true when many change
// it at once.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <thread>

#include "base/bytes.h"
#include "file/records.h"
#include "file/test_support.h"
#include "jobs/schedule.h"
#include "store/fields.h"
#include "wire/date.h"

namespace kyanite::file {
namespace {

// A share with
//   docs/           docs/a.txt ("hello", 5 bytes)   docs/deep/
//   Top.txt (empty)
class FileTree : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(files.make_share("share").outcome(), "201");
    ASSERT_EQ(files.make_directory("share/docs").outcome(), "201");
    ASSERT_EQ(files.make_directory("share/docs/deep").outcome(), "201");
    ASSERT_EQ(files.make_file("share/docs/a.txt", "5").outcome(), "201");
    ASSERT_EQ(files.write("share/docs/a.txt", 0, "hello").outcome(), "201");
    ASSERT_EQ(files.make_file("share/Top.txt").outcome(), "201");
  }

  TestService files;
};

TEST_F(FileTree, ShowsEntriesInOrder) {
  EXPECT_EQ(files.names("share"), "docs/ Top.txt ");
  EXPECT_EQ(files.names("share/docs"), "a.txt deep/ ");
  EXPECT_EQ(files.names("share/docs/deep"), "");
}

TEST_F(FileTree, NamesKeepTheirCaseAndAreFoundInAny) {
  EXPECT_EQ(files.read("share/DOCS/A.TXT", 5).body, "hello");
  EXPECT_EQ(files.make_directory("share/DoCs").outcome(), "409 ResourceAlreadyExists");
  EXPECT_EQ(files.make_file("share/ÄRGER").outcome(), "201");
  EXPECT_EQ(files.send("HEAD", "share/ärger").outcome(), "200");
  EXPECT_EQ(files.rename("share/docs", "share/DOCS", true).outcome(), "200");
  EXPECT_EQ(files.names("share", "&prefix=d"), "DOCS/ ");
  EXPECT_EQ(files.names("share/docs"), "a.txt deep/ ");
}

TEST_F(FileTree, PagesContinueWhereTheyEnded) {
  std::string all;
  std::string marker;
  for (int i = 0; i < 7; ++i)
    ASSERT_EQ(files.make_file("share/docs/f" + std::to_string(i)).status, 201);
  for (int page = 0; page < 20; ++page) {
    const auto answer =
        files.send("GET", "share/docs", "restype=directory&comp=list&maxresults=2" + marker);
    ASSERT_EQ(answer.status, 200);
    all += files.names("share/docs", "&maxresults=2" + marker);
    const size_t at = answer.body.find("<NextMarker>");
    if (at == std::string::npos) break;
    const size_t from = at + 12;
    marker = "&marker=" + answer.body.substr(from, answer.body.find('<', from) - from);
  }
  EXPECT_EQ(all, "a.txt deep/ f0 f1 f2 f3 f4 f5 f6 ");
}

struct Refused {
  const char* method;
  const char* path;
  const char* query;
  TestService::Headers headers;
  const char* outcome;
};

TEST_F(FileTree, RefusesWhatCannotBe) {
  const TestService::Headers file = {{"x-ms-type", "file"}, {"x-ms-content-length", "1"}};
  const Refused cases[] = {
      {"PUT", "share/none/a", "restype=directory", {}, "404 ParentNotFound"},
      {"PUT", "share/none/a", "", file, "404 ParentNotFound"},
      {"PUT", "share/Top.txt/a", "", file, "404 ParentNotFound"},
      {"PUT", "share/docs", "", file, "409 ResourceTypeMismatch"},
      {"PUT", "share/Top.txt", "restype=directory", {}, "409 ResourceAlreadyExists"},
      {"PUT", "nosuchshare/a", "", file, "404 ShareNotFound"},
      {"PUT", "share/a:b", "", file, "400 InvalidResourceName"},
      {"PUT", "share/com1", "", file, "400 InvalidResourceName"},
      {"PUT", "share/a", "", {{"x-ms-type", "file"}}, "400 MissingRequiredHeader"},
      {"PUT",
       "share/a",
       "",
       {{"x-ms-type", "file"}, {"x-ms-content-length", "4398046511105"}},
       "400 OutOfRangeInput"},
      {"PUT",
       "share/a",
       "",
       {{"x-ms-type", "file"}, {"x-ms-content-length", "-1"}},
       "400 OutOfRangeInput"},
      {"PUT",
       "share/docs/a.txt",
       "comp=properties",
       {{"x-ms-content-length", "-1"}},
       "400 OutOfRangeInput"},
      {"PUT",
       "share/docs/a.txt",
       "comp=properties",
       {{"x-ms-content-length", "x"}},
       "400 InvalidHeaderValue"},
      {"GET", "share/none", "", {}, "404 ResourceNotFound"},
      {"GET", "share/docs", "", {}, "404 ResourceNotFound"},
      {"GET", "share/none/a", "", {}, "404 ParentNotFound"},
      {"GET", "share/Top.txt/a", "", {}, "404 ParentNotFound"},
      {"HEAD", "share/none/a", "", {}, "404 ParentNotFound"},
      {"GET", "share/none/a", "comp=metadata", {}, "404 ParentNotFound"},
      {"GET", "share/none/a", "comp=rangelist", {}, "404 ParentNotFound"},
      {"GET", "share/none/a", "comp=listhandles", {}, "404 ParentNotFound"},
      {"GET", "share/none/a", "restype=directory", {}, "404 ParentNotFound"},
      {"GET", "share/none/a", "restype=directory&comp=list", {}, "404 ParentNotFound"},
      {"PUT", "share/none/a", "comp=metadata", {}, "404 ParentNotFound"},
      {"PUT", "share/none/a", "comp=properties", {}, "404 ParentNotFound"},
      {"PUT", "share/none/a", "restype=directory&comp=metadata", {}, "404 ParentNotFound"},
      {"DELETE", "share/none/a", "restype=directory", {}, "404 ParentNotFound"},
      {"PUT",
       "share/none/a",
       "comp=lease",
       {{"x-ms-lease-action", "acquire"}, {"x-ms-lease-duration", "-1"}},
       "404 ParentNotFound"},
      {"PUT",
       "share/none/a",
       "comp=range",
       {{"x-ms-write", "clear"}, {"x-ms-range", "bytes=0-0"}},
       "404 ParentNotFound"},
      {"GET", "share/Top.txt", "restype=directory", {}, "404 ResourceNotFound"},
      {"DELETE", "share/none", "", {}, "404 ResourceNotFound"},
      {"DELETE", "share/none/a", "", {}, "404 ParentNotFound"},
      {"DELETE", "share/docs", "restype=directory", {}, "409 DirectoryNotEmpty"},
      {"PUT",
       "share/docs",
       "restype=directory&sharesnapshot=2024-01-01T00:00:00.0000000Z",
       {},
       "400 ShareSnapshotOperationNotSupported"},
  };
  for (const auto& refused : cases) {
    EXPECT_EQ(files.send(refused.method, refused.path, refused.query, refused.headers).outcome(),
              refused.outcome)
        << refused.method << " " << refused.path << " " << refused.query;
  }
}

TEST_F(FileTree, PathsEndAtTheirLimits) {
  std::string path = "share";
  for (int depth = 1; depth <= 250; ++depth) {
    path += "/d";
    ASSERT_EQ(files.make_directory(path).outcome(), "201") << depth;
  }
  EXPECT_EQ(files.make_file(path + "/f").outcome(), "400 InvalidFileOrDirectoryPathName");
  EXPECT_EQ(files.make_file("share/" + std::string(255, 'n')).outcome(), "201");
  EXPECT_EQ(files.make_file("share/" + std::string(256, 'n')).outcome(), "400 OutOfRangeInput");
}

TEST_F(FileTree, WritesClearsAndListsRanges) {
  ASSERT_EQ(files.make_file("share/big", "1099511627776").outcome(), "201");
  ASSERT_EQ(files.write("share/big", 512, std::string(1024, 'x')).outcome(), "201");
  ASSERT_EQ(files.write("share/big", 1099511627775, "e").outcome(), "201");
  EXPECT_EQ(files.write("share/big", 1099511627775, "ee").outcome(), "416 InvalidRange");
  const auto ranges = [&] {
    const std::string body = files.send("GET", "share/big", "comp=rangelist").body;
    return body.substr(body.find("<Ranges"));
  };
  EXPECT_EQ(ranges(),
            "<Ranges><Range><Start>512</Start><End>1535</End></Range>"
            "<Range><Start>1099511627264</Start><End>1099511627775</End></Range></Ranges>");
  // Only whole sectors are given back.
  ASSERT_EQ(files.clear("share/big", 700, 900).outcome(), "201");
  EXPECT_EQ(ranges(),
            "<Ranges><Range><Start>512</Start><End>1023</End></Range>"
            "<Range><Start>1536</Start><End>2047</End></Range>"
            "<Range><Start>1099511627264</Start><End>1099511627775</End></Range></Ranges>");
  EXPECT_EQ(files.read("share/big", 701).body.substr(510),
            std::string(2, '\0') + std::string(188, 'x') + '\0');
  ASSERT_EQ(files.clear("share/big", 0, 1099511627776).outcome(), "201");
  EXPECT_EQ(ranges(), "<Ranges />");
}

TEST_F(FileTree, ResizesAndForgetsWhatIsCutOff) {
  const auto resize = [&](const char* size) {
    return files.send("PUT", "share/docs/a.txt", "comp=properties", {{"x-ms-content-length", size}})
        .outcome();
  };
  EXPECT_EQ(resize("2"), "200");
  EXPECT_EQ(resize("5"), "200");
  EXPECT_EQ(files.read("share/docs/a.txt", 5).body, std::string("he\0\0\0", 5));
}

TEST_F(FileTree, RenamesWithWhatIsBelow) {
  ASSERT_EQ(files.make_directory("share/new").outcome(), "201");
  const auto id = files.send("HEAD", "share/docs/a.txt").header("x-ms-file-id");
  EXPECT_EQ(files.rename("share/docs", "share/new/papers", true).outcome(), "200");
  EXPECT_EQ(files.names("share"), "new/ Top.txt ");
  EXPECT_EQ(files.read("share/new/papers/a.txt", 5).body, "hello");
  EXPECT_EQ(files.send("HEAD", "share/new/papers/a.txt").header("x-ms-file-id"), id);
  EXPECT_EQ(files.send("HEAD", "share/docs/a.txt").outcome(), "404 ParentNotFound");
  EXPECT_EQ(files.rename("share/new/papers/a.txt", "share/b.txt", false).outcome(), "200");
  EXPECT_EQ(files.read("share/b.txt", 5).body, "hello");
}

TEST_F(FileTree, RefusesRenames) {
  const auto directory = [&](const char* from, const char* to) {
    return files.rename(from, to, true).outcome();
  };
  EXPECT_EQ(directory("share/docs", "share/docs/deep/docs"), "400 InvalidHeaderValue");
  EXPECT_EQ(directory("share/none", "share/x"), "404 ResourceNotFound");
  EXPECT_EQ(directory("share/docs", "share/none/x"), "404 ParentNotFound");
  EXPECT_EQ(directory("share/Top.txt", "share/x"), "404 ResourceNotFound");
  EXPECT_EQ(directory("share/docs/deep", "share/docs/a.txt"), "409 ResourceAlreadyExists");
  EXPECT_EQ(directory("other/docs", "share/x"), "400 InvalidHeaderValue");
  const TestService::Headers replace = {{"x-ms-file-rename-replace-if-exists", "true"}};
  EXPECT_EQ(files.rename("share/Top.txt", "share/docs", false, replace).outcome(),
            "409 ResourceAlreadyExists");
  EXPECT_EQ(files.rename("share/Top.txt", "share/docs/a.txt", false, replace).outcome(), "200");
  EXPECT_EQ(files.names("share/docs"), "a.txt deep/ ");
  EXPECT_EQ(files.send("HEAD", "share/Top.txt").outcome(), "404 ResourceNotFound");
}

TEST_F(FileTree, ReadOnlyFilesStay) {
  ASSERT_EQ(files.make_file("share/ro", "1", {{"x-ms-file-attributes", "ReadOnly"}}).outcome(),
            "201");
  EXPECT_EQ(files.write("share/ro", 0, "x").outcome(), "409 ReadOnlyAttribute");
  EXPECT_EQ(files.make_file("share/ro").outcome(), "409 ReadOnlyAttribute");
  EXPECT_EQ(files.send("DELETE", "share/ro").outcome(), "409 ReadOnlyAttribute");
  EXPECT_EQ(files.send("PUT", "share/ro", "comp=properties", {{"x-ms-file-attributes", "None"}})
                .outcome(),
            "200");
  EXPECT_EQ(files.write("share/ro", 0, "x").outcome(), "201");
}

TEST_F(FileTree, LeasesKeepOthersOut) {
  const TestService::Headers acquire = {{"x-ms-lease-action", "acquire"},
                                        {"x-ms-lease-duration", "-1"}};
  const auto id =
      files.send("PUT", "share/docs/a.txt", "comp=lease", acquire).header("x-ms-lease-id");
  ASSERT_FALSE(id.empty());
  EXPECT_EQ(files.write("share/docs/a.txt", 0, "x").outcome(), "412 LeaseIdMissing");
  EXPECT_EQ(files.rename("share/docs/a.txt", "share/b", false).outcome(), "412 LeaseIdMissing");
  EXPECT_EQ(files.send("DELETE", "share/docs/a.txt").outcome(), "412 LeaseIdMissing");
  const TestService::Headers replace = {{"x-ms-file-rename-replace-if-exists", "true"}};
  EXPECT_EQ(files.rename("share/Top.txt", "share/docs/a.txt", false, replace).outcome(),
            "412 LeaseIdMissing");
  EXPECT_EQ(
      files.rename("share/docs/a.txt", "share/b", false, {{"x-ms-source-lease-id", id}}).outcome(),
      "200");
  EXPECT_EQ(files.send("DELETE", "share/b", {}, {{"x-ms-lease-id", id}}).outcome(), "202");
}

// What every snapshot shows stays what it was, whatever happens to the share afterwards.
TEST_F(FileTree, SnapshotsShowWhatWas) {
  const auto first = "&sharesnapshot=" + files.snapshot("share");
  const auto at_first = first.substr(1);
  ASSERT_EQ(files.write("share/docs/a.txt", 0, "HELLO").outcome(), "201");
  ASSERT_EQ(files.rename("share/docs", "share/papers", true).outcome(), "200");
  ASSERT_EQ(files.make_file("share/new.txt").outcome(), "201");
  ASSERT_EQ(files.send("DELETE", "share/Top.txt").outcome(), "202");
  const auto second = "&sharesnapshot=" + files.snapshot("share");
  ASSERT_EQ(files.rename("share/papers/a.txt", "share/a.txt", false).outcome(), "200");
  ASSERT_EQ(files.make_file("share/Top.txt", "3").outcome(), "201");
  ASSERT_EQ(files.send("DELETE", "share/papers/deep", "restype=directory").outcome(), "202");

  EXPECT_EQ(files.names("share"), "a.txt new.txt papers/ Top.txt ");
  EXPECT_EQ(files.names("share/papers"), "");
  EXPECT_EQ(files.read("share/a.txt", 5).body, "HELLO");

  EXPECT_EQ(files.names("share", first), "docs/ Top.txt ");
  EXPECT_EQ(files.names("share/docs", first), "a.txt deep/ ");
  EXPECT_EQ(files.read("share/docs/a.txt", 5, at_first).body, "hello");
  EXPECT_EQ(files.send("HEAD", "share/papers/a.txt", at_first).outcome(), "404 ParentNotFound");
  EXPECT_EQ(files.send("HEAD", "share/new.txt", at_first).outcome(), "404 ResourceNotFound");

  EXPECT_EQ(files.names("share", second), "new.txt papers/ ");
  EXPECT_EQ(files.names("share/papers", second), "a.txt deep/ ");
  EXPECT_EQ(files.read("share/papers/a.txt", 5, second.substr(1)).body, "HELLO");

  const auto changed =
      files.send("GET", "share/a.txt", "comp=rangelist&prevsharesnapshot=" + second.substr(15));
  EXPECT_EQ(changed.status, 200) << changed.code;
}

TEST_F(FileTree, UnknownSnapshotsAreMissed) {
  const std::string at = "sharesnapshot=2001-01-01T00:00:00.0000000Z";
  const TestService::Headers acquire = {{"x-ms-lease-action", "acquire"},
                                        {"x-ms-lease-duration", "-1"}};
  struct Row {
    const char* method;
    const char* path;
    std::string query;
    TestService::Headers headers;
  };
  const Row rows[] = {{"GET", "share", "restype=share&" + at, {}},
                      {"GET", "share", "restype=share&comp=metadata&" + at, {}},
                      {"PUT", "share", "restype=share&comp=lease&" + at, acquire},
                      {"GET", "share/docs", "restype=directory&" + at, {}},
                      {"GET", "share/docs", "restype=directory&comp=list&" + at, {}},
                      {"GET", "share/docs/a.txt", at, {}},
                      {"GET", "share/docs/a.txt", "comp=rangelist&prev" + at, {}}};
  for (const auto& [method, path, query, headers] : rows) {
    files.version = "2021-08-06";
    EXPECT_EQ(files.send(method, path, query, headers).outcome(), "404 ShareSnapshotNotFound")
        << method << " " << path << " " << query;
    files.version = "2021-06-08";
    EXPECT_EQ(files.send(method, path, query, headers).outcome(), "404 ShareNotFound")
        << method << " " << path << " " << query;
  }
  EXPECT_EQ(files.send("DELETE", "share", "restype=share&" + at).outcome(),
            "404 ShareSnapshotNotFound");
  EXPECT_EQ(files.send("DELETE", "other", "restype=share&" + at).outcome(), "404 ShareNotFound");
}

TEST_F(FileTree, WhatIsOfTheShareIsNotOfItsSnapshots) {
  const std::string at = "&sharesnapshot=" + files.snapshot("share");
  const std::string before = files.send("GET", "share", "restype=share").header("ETag");
  struct Row {
    const char* method;
    const char* query;
    TestService::Headers headers;
    const char* outcome;
  };
  const char* const refused = "400 ShareSnapshotOperationNotSupported";
  const Row rows[] = {
      {"PUT", "restype=share", {}, refused},
      {"PUT", "restype=share&comp=metadata", {{"x-ms-meta-a", "b"}}, refused},
      {"PUT", "restype=share&comp=properties", {{"x-ms-share-quota", "7"}}, refused},
      {"PUT", "restype=share&comp=acl", {}, refused},
      {"GET", "restype=share&comp=acl", {}, refused},
      {"GET", "restype=share&comp=stats", {}, refused},
      {"PUT", "restype=share&comp=snapshot", {}, refused},
      {"DELETE", "restype=share", {{"x-ms-delete-snapshots", "include"}}, "400 InvalidHeaderValue"},
  };
  for (const auto& [method, query, headers, outcome] : rows)
    EXPECT_EQ(files.send(method, "share", query + at, headers).outcome(), outcome) << query;
  EXPECT_EQ(files.send("GET", "share", "restype=share").header("ETag"), before);
  EXPECT_EQ(files.send("GET", "share", "restype=share" + at).outcome(), "200");
}

TEST_F(FileTree, DifferencesTellWhatWasClearedWhereNothingWas) {
  const auto differences = [&](const std::string& snapshot, const std::string& more = {}) {
    const auto answer =
        files.send("GET", "share/big", "comp=rangelist&prevsharesnapshot=" + snapshot + more);
    std::string text;
    for (size_t at = 0; (at = answer.body.find("<Start>", at)) != std::string::npos; ++at) {
      const bool clear = answer.body.compare(at - 12, 12, "<ClearRange>") == 0;
      const size_t start = at + 7;
      const size_t end = answer.body.find("<End>", at) + 5;
      text += (clear ? "clear " : "write ") +
              answer.body.substr(start, answer.body.find('<', start) - start) + "-" +
              answer.body.substr(end, answer.body.find('<', end) - end) + " ";
    }
    return text;
  };
  ASSERT_EQ(files.make_file("share/big", "10000").outcome(), "201");
  ASSERT_EQ(files.clear("share/big", 0, 1024).outcome(), "201");
  const auto empty = files.snapshot("share");
  EXPECT_EQ(differences(empty), "") << "cleared before the snapshot";
  ASSERT_EQ(files.clear("share/big", 512, 1024).outcome(), "201");
  EXPECT_EQ(differences(empty), "clear 512-1535 ");
  ASSERT_EQ(files.write("share/big", 1023, "hello").outcome(), "201");
  EXPECT_EQ(differences(empty), "write 512-1535 ") << "both of the sectors are written to";
  ASSERT_EQ(files.write("share/big", 4096, std::string(1536, 'x')).outcome(), "201");
  const auto full = files.snapshot("share");
  ASSERT_EQ(files.clear("share/big", 4608, 512).outcome(), "201");
  EXPECT_EQ(differences(full), "clear 4608-5119 ");
  EXPECT_EQ(differences(empty), "write 512-1535 write 4096-4607 clear 4608-5119 write 5120-5631 ");
  EXPECT_EQ(differences(empty, "&sharesnapshot=" + full), "write 512-1535 write 4096-5631 ");
  // Only whole sectors are given back; at the end of the file there may be none.
  ASSERT_EQ(files.clear("share/big", 9728, 272).outcome(), "201");
  EXPECT_EQ(differences(full), "clear 4608-5119 write 9728-9999 ");
}

// How many records of a family there are in the whole store.
size_t count_records(TestService& files, store::Family family) {
  size_t count = 0;
  for (const auto& [key, record] : files.around.memory.everything()) {
    if ((key.space() >> 63) == 0 && key.family() == family) ++count;
  }
  return count;
}

TEST_F(FileTree, NothingIsLeftOfADeletedSnapshot) {
  const auto snapshot = files.snapshot("share");
  ASSERT_EQ(files.write("share/docs/a.txt", 0, "HELLO").outcome(), "201");
  ASSERT_EQ(files.send("DELETE", "share/Top.txt").outcome(), "202");
  EXPECT_EQ(count_records(files, tree::kFormer), 2U);
  EXPECT_EQ(count_records(files, content::kContentFamily), 2U);
  ASSERT_EQ(files.send("DELETE", "share", "restype=share&sharesnapshot=" + snapshot).outcome(),
            "202");
  jobs::Schedule schedule(files.around.memory, files.around.clock, {"account"});
  schedule.add(files.service.make_jobs(files.around.context));
  RunLoop::run(schedule.run_due());
  EXPECT_EQ(count_records(files, tree::kFormer), 0U);
  EXPECT_EQ(count_records(files, content::kContentFamily), 1U);
  EXPECT_EQ(files.read("share/docs/a.txt", 5).body, "HELLO");
}

// What SMB clients have open of snapshots ends with them.
TEST_F(FileTree, DeletionsEndWhatIsOpenOfSnapshots) {
  const auto first = files.snapshot("share");
  const auto second = files.snapshot("share");
  store::SpaceId space = 0;
  std::map<std::string, Generation> generations;
  for (const auto& [key, record] : files.around.memory.everything()) {
    if ((key.space() >> 63) != 0 || key.family() != kSnapshots) continue;
    space = key.space();
    generations[std::string(wire::iso_date({static_cast<int64_t>(read_be64(key.row().data()))}))] =
        store::decode<Snapshot>(record->value)->generation;
  }
  ASSERT_EQ(generations.size(), 2U);
  auto& opens = files.service.open_files().snapshots();
  const auto of_first = opens.open(space, generations.at(first));
  const auto of_second = opens.open(space, generations.at(second));
  ASSERT_EQ(files.send("DELETE", "share", "restype=share&sharesnapshot=" + first).outcome(), "202");
  EXPECT_TRUE(of_first->over());
  EXPECT_FALSE(of_second->over());
  ASSERT_EQ(files.send("DELETE", "share", "restype=share", {{"x-ms-delete-snapshots", "include"}})
                .outcome(),
            "202");
  EXPECT_TRUE(of_second->over());
}

// Every entry hangs on a directory that hangs on the root, each id on one place.
void expect_sound(TestService& files) {
  std::map<EntryId, EntryId> parents;
  std::set<EntryId> directories{kRootId};
  for (const auto& [key, record] : files.around.memory.everything()) {
    if ((key.space() >> 63) != 0 || key.family() != tree::kEntries) continue;
    const auto entry = store::decode<Entry>(record->value).value();
    EXPECT_TRUE(parents.emplace(entry.id, read_be64(key.row().data())).second)
        << entry.name << " is in two places";
    if (entry.directory) directories.insert(entry.id);
  }
  for (const auto& [id, parent] : parents) {
    EXPECT_TRUE(directories.contains(parent)) << "an orphan";
    size_t steps = 0;
    for (EntryId at = parent; at != kRootId && steps <= parents.size(); ++steps) at = parents[at];
    EXPECT_LE(steps, parents.size()) << "a ring";
  }
}

TEST_F(FileTree, StaysATreeUnderManyHands) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 300;
  const std::string directories[] = {"share/x", "share/y", "share/x/z", "share/y/z", "share/x/z/w"};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (int round = 0; round < kRounds; ++round) {
        const auto pick = [&](int salt) -> const std::string& {
          return directories[static_cast<size_t>(round * 7 + thread * 3 + salt) %
                             std::size(directories)];
        };
        files.make_directory(pick(0));
        files.make_file(pick(1) + "/f" + std::to_string(thread));
        files.rename(pick(2), pick(3), true);
        files.rename(pick(0) + "/f" + std::to_string(thread), pick(4) + "/g", false,
                     {{"x-ms-file-rename-replace-if-exists", "true"}});
        files.send("DELETE", pick(1) + "/g");
        files.send("DELETE", pick(4) + "/f" + std::to_string(thread));
        files.send("DELETE", pick(2), "restype=directory");
      }
    });
  }
  for (auto& thread : threads) thread.join();
  expect_sound(files);
}

}  // namespace
}  // namespace kyanite::file
