#include "server/options.h"

#include <gtest/gtest.h>

#include "server/flags.h"

#include <algorithm>
#include <functional>
#include <sstream>

namespace kyanite::server {
namespace {

Options parsed(const std::vector<std::string>& arguments) {
  auto options = parse_options(arguments);
  EXPECT_TRUE(options) << (options ? "" : options.error());
  return options ? *options : Options();
}

TEST(Options, Defaults) {
  const Options options = parsed({});
  const std::pair<Listener, int> ports[] = {{Listener::kBlob, 10000},  {Listener::kQueue, 10001},
                                            {Listener::kTable, 10002}, {Listener::kFile, 10003},
                                            {Listener::kSmb, 10445},   {Listener::kWeb, 10080},
                                            {Listener::kAdmin, 10010}};
  for (auto [listener, port] : ports) {
    EXPECT_EQ(options[listener].port, port) << name(listener);
    EXPECT_EQ(options[listener].host, "127.0.0.1") << name(listener);
    EXPECT_FALSE(options[listener].named) << name(listener);
  }
  EXPECT_EQ(options.location, "data");
  EXPECT_TRUE(options.product_style_url);
  EXPECT_FALSE(options.in_memory || options.oauth || options.silent || options.help);
  EXPECT_TRUE(options.without_effect.empty());
}

TEST(Options, EveryFlagHasItsEffect) {
  struct Case {
    std::vector<std::string> arguments;
    std::function<bool(const Options&)> holds;
  };
  const Case cases[] = {
      {{"--blobHost", "0.0.0.0"}, [](auto& o) { return o[Listener::kBlob].host == "0.0.0.0"; }},
      {{"--blobPort=0"}, [](auto& o) { return o[Listener::kBlob].port == 0; }},
      {{"--blobPort", "65535"}, [](auto& o) { return o[Listener::kBlob].port == 65535; }},
      {{"--blobKeepAliveTimeout", "7"},
       [](auto& o) { return o[Listener::kBlob].keep_alive_s == 7; }},
      {{"--queueHost", "::1"}, [](auto& o) { return o[Listener::kQueue].host == "::1"; }},
      {{"--queuePort", "1"}, [](auto& o) { return o[Listener::kQueue].named; }},
      {{"--queueKeepAliveTimeout", "1"},
       [](auto& o) { return o[Listener::kQueue].keep_alive_s == 1; }},
      {{"--tableHost", "localhost"}, [](auto& o) { return o[Listener::kTable].named; }},
      {{"--tablePort", "2"}, [](auto& o) { return o[Listener::kTable].port == 2; }},
      {{"--tableKeepAliveTimeout", "9"},
       [](auto& o) { return o[Listener::kTable].keep_alive_s == 9; }},
      {{"--fileHost", "a"}, [](auto& o) { return o[Listener::kFile].host == "a"; }},
      {{"--filePort", "3"}, [](auto& o) { return o[Listener::kFile].port == 3; }},
      {{"--smbPort", "4"}, [](auto& o) { return o[Listener::kSmb].port == 4 && o.smb; }},
      {{"--disableSmb"}, [](auto& o) { return !o.smb; }},
      {{"--fileKeepAliveTimeout", "9"},
       [](auto& o) { return o[Listener::kFile].keep_alive_s == 9; }},
      {{"--smbHost", "b"}, [](auto& o) { return o[Listener::kSmb].host == "b"; }},
      {{"--smbPort", "4"}, [](auto& o) { return o[Listener::kSmb].port == 4; }},
      {{"--webHost", "b"}, [](auto& o) { return o[Listener::kWeb].host == "b"; }},
      {{"--webPort", "4"}, [](auto& o) { return o[Listener::kWeb].port == 4; }},
      {{"--adminHost", "c"}, [](auto& o) { return o[Listener::kAdmin].host == "c"; }},
      {{"--adminPort", "5"}, [](auto& o) { return o[Listener::kAdmin].port == 5; }},
      {{"--location", "/x"}, [](auto& o) { return o.location == "/x"; }},
      {{"-l", "/x"}, [](auto& o) { return o.location == "/x"; }},
      {{"-l=/x=y"}, [](auto& o) { return o.location == "/x=y"; }},
      {{"--inMemoryPersistence"}, [](auto& o) { return o.in_memory; }},
      {{"--inMemoryPersistence", "--extentMemoryLimit", "0.5"},
       [](auto& o) { return o.without_effect.size() == 1; }},
      {{"--config", "f"}, [](auto& o) { return o.config_file == "f"; }},
      {{"--cert", "c.pem", "--key", "k.pem"},
       [](auto& o) { return o.cert_file == "c.pem" && o.key_file == "k.pem"; }},
      {{"--cert", "c.pfx", "--pwd=-x"}, [](auto& o) { return o.cert_password == "-x"; }},
      {{"--cert", "c.pfx", "--pwd", ""}, [](auto& o) { return o.cert_password.empty(); }},
      {{"--oauth", "basic", "--cert", "c"}, [](auto& o) { return o.oauth; }},
      {{"--oauth", "BASIC", "--cert", "c"}, [](auto& o) { return o.oauth && !o.local_tokens; }},
      {{"--https", "--httpsHost", "a", "--httpsHost=b"},
       [](auto& o) { return o.https && o.https_hosts.size() == 2; }},
      {{"--oauth", "basic", "--https"}, [](auto& o) { return o.oauth && !o.local_tokens; }},
      {{"--oauth", "local", "--https", "--tokenHost", "::1", "--tokenPort", "6"},
       [](auto& o) {
         return o.oauth && o.local_tokens && o[Listener::kToken].host == "::1" &&
                o[Listener::kToken].port == 6;
       }},
      {{"--disableProductStyleUrl"}, [](auto& o) { return !o.product_style_url; }},
      {{"--copyFromPrivateAddresses"}, [](auto& o) { return o.copy_from_private; }},
      {{"-s"}, [](auto& o) { return o.silent; }},
      {{"-sL"}, [](auto& o) { return o.silent && o.without_effect.size() == 1; }},
      {{"-sl", "x"}, [](auto& o) { return o.silent && o.location == "x"; }},
      {{"--silent"}, [](auto& o) { return o.silent; }},
      {{"-d", "log"}, [](auto& o) { return o.debug_file == "log"; }},
      {{"--threads", "3"}, [](auto& o) { return o.threads == 3; }},
      {{"-L", "--skipApiVersionCheck", "--disableTelemetry"},
       [](auto& o) { return o.without_effect.size() == 3; }},
      {{"-v"}, [](auto& o) { return o.version; }},
      {{"-h"}, [](auto& o) { return o.help; }},
      {{"--healthcheck"}, [](auto& o) { return o.health_check; }},
      {{"--describeFlags"}, [](auto& o) { return o.describe_flags; }},
      {{"--parent", "4711"}, [](auto& o) { return o.parent == 4711; }},
      {{"--insecureOffLoopback"}, [](auto& o) { return o.insecure_off_loopback; }},
  };
  for (const Case& c : cases) EXPECT_TRUE(c.holds(parsed(c.arguments))) << c.arguments[0];
}

TEST(Options, MistakesAreExplained) {
  struct Case {
    std::vector<std::string> arguments;
    std::string_view part_of_message;
  };
  const Case cases[] = {
      {{"--blobport", "1"}, "did you mean --blobPort?"},
      {{"--blobPrt=1"}, "did you mean --blobPort?"},
      {{"--inMemory"}, "unknown flag --inMemory"},
      {{"--xyz"}, "unknown flag --xyz (--help"},
      {{"-x"}, "unknown flag -x"},
      {{"-sx"}, "unknown flag -sx"},
      {{"-ls"}, "-l wants a value"},
      {{"--"}, "unknown flag --"},
      {{"-"}, "unknown flag -"},
      {{"start"}, "'start' is not a flag"},
      {{"--blobPort"}, "--blobPort wants a value"},
      {{"--blobPort", "-s"}, "--blobPort wants a value"},
      {{"--blobPort", "65536"}, "0 to 65535"},
      {{"--blobPort", "-1"}, "wants a value"},
      {{"--blobPort=-1"}, "0 to 65535"},
      {{"--blobPort", "80x"}, "0 to 65535"},
      {{"--blobPort="}, "0 to 65535"},
      {{"--blobHost="}, "wants an address"},
      {{"--blobKeepAliveTimeout", "0"}, "seconds from 1"},
      {{"--threads", "0"}, "1 to 1024"},
      {{"--threads", "1025"}, "1 to 1024"},
      {{"--silent=yes"}, "takes no value"},
      {{"--location="}, "wants a value"},
      {{"--oauth", "full"}, "only 'basic' and 'local'"},
      {{"--oauth", "local"}, "needs HTTPS"},
      {{"--https", "--cert", "c", "--key", "k"}, "choose one of the two"},
      {{"--httpsHost", "box"}, "that --https makes"},
      {{"--https", "--httpsHost", "a,b"}, "a host name or an address"},
      {{"--https", "--httpsHost", std::string(254, 'a')}, "a host name or an address"},
      {{"--tokenPort", "1"}, "are for --oauth local"},
      {{"--oauth", "basic"}, "needs HTTPS"},
      {{"--key", "k"}, "--cert is missing"},
      {{"--pwd", "p"}, "--cert is missing"},
      {{"--extentMemoryLimit", "5"}, "only for --inMemoryPersistence"},
      {{"--inMemoryPersistence", "--extentMemoryLimit", "much"}, "megabytes"},
      {{"--inMemoryPersistence", "-l", "x"}, "makes no sense"},
  };
  for (const Case& c : cases) {
    const auto options = parse_options(c.arguments);
    ASSERT_FALSE(options) << c.arguments[0];
    EXPECT_NE(options.error().find(c.part_of_message), std::string::npos) << options.error();
  }
}

TEST(Options, WhatAzuritePassesOverIsPassedOverByItsNames) {
  struct Case {
    std::vector<std::string> arguments;
    std::vector<std::string_view> passed_over;
  };
  const Case cases[] = {
      {{"start", "--silent"}, {"'start'"}},
      {{"--silent", "true", "--location", "x"}, {"'true'"}},
      {{"--silent=false"}, {"'false'"}},
      {{"--silent"}, {}},
  };
  for (const Case& c : cases) {
    const auto options = parse_options(c.arguments, {}, Personality::kAzurite);
    ASSERT_TRUE(options) << c.arguments[0];
    EXPECT_TRUE(options->silent) << c.arguments[0];
    ASSERT_EQ(options->doubtful.size(), c.passed_over.size()) << c.arguments[0];
    for (size_t i = 0; i < c.passed_over.size(); ++i)
      EXPECT_TRUE(options->doubtful[i].starts_with(c.passed_over[i])) << options->doubtful[i];
  }
  EXPECT_FALSE(parse_options({"--nosuch"}, {}, Personality::kAzurite));
}

TEST(Options, EveryFlagHasAVariable) {
  for (const Section& section : flag_sections()) {
    for (const Flag& flag : section.flags) {
      if (!section.in_environment) continue;
      // A value that no flag takes for what it wants shows that the variable is read.
      const std::string variable = variable_of(flag);
      const bool any_text = flag.value == "FILE" || flag.value == "DIR" || flag.value == "HOST" ||
                            flag.value == "PASSWORD";
      if (any_text) continue;
      const auto wrong = parse_options({}, {{variable, "wrong"}});
      ASSERT_FALSE(wrong) << variable;
      EXPECT_TRUE(wrong.error().starts_with(variable + " ")) << wrong.error();
    }
  }
}

TEST(Options, VariablesAndFlags) {
  struct Case {
    std::vector<std::string> arguments;
    Environment environment;
    std::function<bool(const Options&)> holds;
  };
  const Case cases[] = {
      {{}, {{"KYANITE_BLOB_PORT", "7"}}, [](auto& o) { return o[Listener::kBlob].port == 7; }},
      {{}, {{"KYANITE_LOCATION", "/x"}}, [](auto& o) { return o.location == "/x"; }},
      {{}, {{"KYANITE_LOCATION", ""}}, [](auto& o) { return o.location == "data"; }},
      {{}, {{"KYANITE_SILENT", "true"}}, [](auto& o) { return o.silent; }},
      {{}, {{"KYANITE_SILENT", "1"}}, [](auto& o) { return o.silent; }},
      {{}, {{"KYANITE_SILENT", "false"}}, [](auto& o) { return !o.silent; }},
      {{}, {{"KYANITE_SILENT", "0"}}, [](auto& o) { return !o.silent; }},
      {{},
       {{"KYANITE_SETTING", "blobVersioning=true;containerRetentionDays=7;"}},
       [](auto& o) { return o.account_settings.size() == 2; }},
      // The command line has the last word.
      {{"--blobPort", "8"},
       {{"KYANITE_BLOB_PORT", "7"}},
       [](auto& o) { return o[Listener::kBlob].port == 8; }},
      {{"--inMemoryPersistence"},
       {{"KYANITE_LOCATION", "/x"}},
       [](auto& o) { return o.in_memory; }},
      {{"-l", "/y"},
       {{"KYANITE_IN_MEMORY_PERSISTENCE", "true"}},
       [](auto& o) { return !o.in_memory && o.location == "/y"; }},
      // Kubernetes makes such ones of the names of services.
      {{},
       {{"KYANITE_BLOB_PORT", "tcp://1.2.3.4:5"}},
       [](auto& o) { return o[Listener::kBlob].port == 10000 && o.doubtful.size() == 1; }},
      {{},
       {{"KYANITE_QUEUE_PORT", "udp://1.2.3.4:5"}},
       [](auto& o) { return !o[Listener::kQueue].named && o.doubtful.size() == 1; }},
      // What is not for us, what is misspelt, and what Azurite knows.
      {{}, {{"KYANITE_SERVICE_HOST", "x"}}, [](auto& o) { return o.doubtful.empty(); }},
      {{}, {{"KYANITE_BLOB_PROT", "1"}}, [](auto& o) { return o.doubtful.size() == 1; }},
      {{}, {{"AZURITE_DB", "mysql://"}}, [](auto& o) { return o.without_effect.size() == 1; }},
      {{},
       {{"AZURITE_SKIP_API_VERSION_CHECK", "true"}},
       [](auto& o) { return o.without_effect.size() == 1; }},
  };
  for (const Case& c : cases) {
    const auto options = parse_options(c.arguments, c.environment);
    ASSERT_TRUE(options) << options.error();
    EXPECT_TRUE(c.holds(*options)) << c.environment.begin()->first;
  }
}

TEST(Options, NamesDecideWhatIsServed) {
  struct Case {
    std::string_view program;
    std::vector<std::string> flags;
    std::string_view served;
  };
  const Case cases[] = {
      {"kyanite", {}, "blob queue table file smb admin "},
      {"kyanite", {"--disableSmb", "--webPort", "0"}, "blob queue table file web admin "},
      {"/usr/bin/azurite", {}, "blob queue table "},
      {"azurite", {"--filePort", "0", "--adminPort", "0"}, "blob queue table file admin "},
      {"azurite", {"--smbPort", "0"}, "blob queue table file smb "},
      {"azurite", {"--smbPort", "0", "--disableSmb"}, "blob queue table "},
      {"azurite-blob", {"--queuePort", "0"}, "blob "},
      {"./azurite-queue", {}, "queue "},
      {"azurite-table", {"--adminHost", "::1"}, "table admin "},
  };
  for (const Case& c : cases) {
    const auto personality = personality_of(c.program);
    ASSERT_TRUE(personality) << c.program;
    const auto options = parse_options(c.flags, {}, *personality);
    std::string served;
    for (Listener listener : kListeners) {
      if (serves(*options, listener)) served.append(name(listener)).append(" ");
    }
    EXPECT_EQ(served, c.served) << c.program;
  }
  EXPECT_FALSE(personality_of("azurite-file"));
  EXPECT_FALSE(personality_of("--blobPort"));
}

TEST(Options, HelpFitsAScreenAndNamesEveryListener) {
  std::istringstream lines{help_text()};
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) EXPECT_LE(line.size(), 100u) << line;
  EXPECT_LE(count, 50);
  for (Listener listener : kListeners) {
    const std::string flag = "--" + std::string(name(listener)) + "Port PORT";
    EXPECT_NE(help_text().find(flag), std::string::npos) << flag;
  }
}

}  // namespace
}  // namespace kyanite::server
