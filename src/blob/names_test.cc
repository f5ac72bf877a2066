#include "blob/names.h"

#include <gtest/gtest.h>

namespace kyanite::blob {
namespace {

using wire::Code;

std::optional<Code> container_error(std::string_view name) {
  const auto checked = check_container_name(name);
  if (checked) return {};
  return checked.error().code;
}

std::optional<Code> blob_error(std::string_view name) {
  const auto checked = check_blob_name(name);
  if (checked) return {};
  return checked.error().code;
}

TEST(Names, Containers) {
  const std::string longest(kMaxContainerName, 'c');
  struct Case {
    std::string name;
    std::optional<Code> error;
  };
  const Case cases[] = {
      {"abc", {}},
      {"0-9", {}},
      {"a-b-c", {}},
      {"$root", {}},
      {"$web", {}},
      {"$logs", {}},
      {longest, {}},
      {longest + "c", Code::kOutOfRangeInput},
      {"ab", Code::kOutOfRangeInput},
      {"", Code::kOutOfRangeInput},
      {"Abc", Code::kInvalidResourceName},
      {"a_b", Code::kInvalidResourceName},
      {"a.b", Code::kInvalidResourceName},
      {"-ab", Code::kInvalidResourceName},
      {"ab-", Code::kInvalidResourceName},
      {"a--b", Code::kInvalidResourceName},
      {"$other", Code::kInvalidResourceName},
      {"$Root", Code::kInvalidResourceName},
      {"caf\xc3\xa9", Code::kInvalidResourceName},
  };
  for (const auto& [name, error] : cases) EXPECT_EQ(container_error(name), error) << name;
}

TEST(Names, Blobs) {
  std::string wide;  // Characters count, not bytes.
  for (size_t i = 0; i < kMaxBlobName; ++i) wide += "\xe2\x82\xac";
  std::string deep = "s";  // kMaxPathSegments segments
  for (size_t i = 1; i < kMaxPathSegments; ++i) deep += "/s";
  const std::string longest(kMaxBlobName, 'b');
  struct Case {
    std::string name;
    std::optional<Code> error;
  };
  const Case cases[] = {
      {"b", {}},
      {"dir/file name?.txt", {}},
      {"UPPER and \xf0\x9f\x98\x80", {}},
      {longest, {}},
      {longest + "b", Code::kOutOfRangeInput},
      {wide, {}},
      {wide + "\xe2\x82\xac", Code::kOutOfRangeInput},
      {deep, {}},
      {deep + "/s", Code::kOutOfRangeInput},
      {"", Code::kInvalidUri},
      {"latin \xe9", Code::kInvalidUri},
      {std::string("a\0b", 3), Code::kInvalidUri},
  };
  for (const auto& [name, error] : cases) EXPECT_EQ(blob_error(name), error) << name.substr(0, 40);
}

}  // namespace
}  // namespace kyanite::blob
