#include "server/azurite_text.h"

#include <gtest/gtest.h>

namespace kyanite::server {
namespace {

Started at(Listener listener, std::string host, uint16_t port, bool tls = false) {
  return {listener, {std::move(host), port}, tls};
}

TEST(AzuriteText, LinesAreAzurites) {
  struct Case {
    Personality personality;
    std::vector<std::string> flags;
    std::vector<Started> started;
    std::string_view start;
    std::string_view stop;
  };
  const Case cases[] = {
      {Personality::kKyanite, {}, {at(Listener::kBlob, "127.0.0.1", 10000)}, "", ""},
      {Personality::kAzurite,
       {"--queuePort", "0"},
       {at(Listener::kBlob, "127.0.0.1", 10000), at(Listener::kQueue, "127.0.0.1", 4567),
        at(Listener::kTable, "127.0.0.1", 10002), at(Listener::kFile, "127.0.0.1", 10003)},
       "Azurite Blob service is starting at http://127.0.0.1:10000\n"
       "Azurite Blob service is successfully listening at http://127.0.0.1:10000\n"
       "Azurite Queue service is starting at http://127.0.0.1:0\n"
       "Azurite Queue service is successfully listening at http://127.0.0.1:4567\n"
       "Azurite Table service is starting at http://127.0.0.1:10002\n"
       "Azurite Table service is successfully listening at http://127.0.0.1:10002\n",
       "Azurite Blob service is closing...\n"
       "Azurite Queue service is closing...\n"
       "Azurite Table service is closing...\n"},
      {Personality::kAzurite,
       {"--blobHost", "0.0.0.0"},
       {at(Listener::kBlob, "0.0.0.0", 10000, true)},
       "Azurite Blob service is starting at https://0.0.0.0:10000\n"
       "Azurite Blob service is successfully listening at https://0.0.0.0:10000\n",
       "Azurite Blob service is closing...\n"},
      {Personality::kAzuriteBlob,
       {},
       {at(Listener::kBlob, "127.0.0.1", 10000)},
       "Azurite Blob service is starting on 127.0.0.1:10000\n"
       "Azurite Blob service successfully listens on http://127.0.0.1:10000\n",
       "Azurite Blob service is closing...\n"},
      {Personality::kAzuriteTable,
       {"--tablePort", "7"},
       {at(Listener::kTable, "127.0.0.1", 7)},
       "Azurite Table service is starting on 127.0.0.1:7\n"
       "Azurite Table service successfully started on 127.0.0.1:7\n",
       "Azurite Table service is closing...\n"},
  };
  for (const Case& c : cases) {
    const auto options = parse_options(c.flags, {}, c.personality);
    ASSERT_TRUE(options) << options.error();
    EXPECT_EQ(azurite_start_text(*options, c.started), c.start);
    EXPECT_EQ(azurite_closing_text(*options, c.started), c.stop);
  }
  const auto options = parse_options({}, {}, Personality::kAzuriteQueue);
  EXPECT_EQ(azurite_closed_text(*options, {at(Listener::kQueue, "h", 1)}),
            "Azurite Queue service successfully closed\n");
}

}  // namespace
}  // namespace kyanite::server
