#include "headers/http_properties.h"

#include <gtest/gtest.h>

namespace kyanite::headers {
namespace {

TEST(ForeignProperties, AreMadeReadable) {
  http::Headers told;
  told.add("Content-Type", "text/\xe9");
  told.add("Content-Encoding", "\xff");
  told.add("Content-Language", "\xef\xbf\xbf");
  told.add("Content-Disposition", "attachment; filename=caf\xe9.txt");
  told.add("Cache-Control", "\xe2\x82\xac");
  const auto http = foreign_properties(told);
  EXPECT_EQ(http.content_type, "text/\xef\xbf\xbd");
  EXPECT_EQ(http.content_encoding, "\xef\xbf\xbd");
  EXPECT_EQ(http.content_language, "\xef\xbf\xbd");
  EXPECT_EQ(http.content_disposition, "attachment; filename=caf\xef\xbf\xbd.txt");
  EXPECT_EQ(http.cache_control, "\xe2\x82\xac");
}

}  // namespace
}  // namespace kyanite::headers
