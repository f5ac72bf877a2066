#include "blob/website.h"

#include <gtest/gtest.h>

namespace kyanite::blob {
namespace {

TEST(Website, WherePagesAreLookedFor) {
  struct Case {
    const char* path;
    const char* index;
    const char* default_path;
    std::vector<std::string> names;
  };
  const Case cases[] = {
      {"", "index.html", "", {"index.html"}},
      {"a/b/", "index.html", "", {"a/b/index.html"}},
      {"page.html", "index.html", "", {"page.html", "page.html/index.html"}},
      {"docs", "index.html", "", {"docs", "docs/index.html"}},
      {"", "", "home.html", {"home.html"}},
      {"a/", "", "home.html", {"home.html"}},
      {"a", "", "home.html", {"a"}},
      {"", "", "", {}},
      {"a", "", "", {"a"}},
  };
  for (const auto& each : cases) {
    account::StaticWebsite website;
    website.index_document = each.index;
    website.default_index_path = each.default_path;
    EXPECT_EQ(page_names(each.path, website), each.names) << each.path;
  }
}

}  // namespace
}  // namespace kyanite::blob
