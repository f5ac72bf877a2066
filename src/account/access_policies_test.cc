#include "account/access_policies.h"

#include <gtest/gtest.h>

#include "store/fields.h"
#include "wire/date.h"

namespace kyanite::account {
namespace {

std::string identifier(const std::string& id, const std::string& policy = "") {
  return "<SignedIdentifier><Id>" + id + "</Id>" + policy + "</SignedIdentifier>";
}
wire::Result<std::vector<auth::AccessPolicy>> parse(std::string_view xml) {
  return parse_access_policies(xml, "racwdl");
}
std::string document(const std::string& identifiers) {
  return "<?xml version=\"1.0\" encoding=\"utf-8\"?><SignedIdentifiers>" + identifiers +
         "</SignedIdentifiers>";
}

TEST(AccessPolicies, ReadsWhatClientsSend) {
  const auto policies = parse(document(
      identifier("a&amp;b",
                 "<AccessPolicy><Start>2009-09-28T08:49:37.1234567Z</Start>"
                 "<Expiry>2009-09-29</Expiry><Permission>rwd</Permission></AccessPolicy>") +
      identifier("bare") + identifier("empty", "<AccessPolicy><Start/><Expiry/></AccessPolicy>")));
  ASSERT_TRUE(policies.ok());
  ASSERT_EQ(policies->size(), 3u);
  EXPECT_EQ((*policies)[0].id, "a&b");
  EXPECT_EQ((*policies)[0].start, wire::parse_iso_date("2009-09-28T08:49:37.1234567Z"));
  EXPECT_EQ((*policies)[0].expiry, wire::parse_iso_date("2009-09-29T00:00:00Z"));
  EXPECT_EQ((*policies)[0].permission, "rwd");
  for (size_t i : {1, 2}) {
    EXPECT_FALSE((*policies)[i].start.set());
    EXPECT_FALSE((*policies)[i].expiry.set());
    EXPECT_EQ((*policies)[i].permission, "");
  }
}

TEST(AccessPolicies, AnEmptyBodyAndAnEmptyListAreNone) {
  for (const std::string& xml :
       {std::string(), document(""), std::string("<SignedIdentifiers/>")}) {
    const auto policies = parse(xml);
    ASSERT_TRUE(policies.ok()) << xml;
    EXPECT_TRUE(policies->empty()) << xml;
  }
}

TEST(AccessPolicies, RefusesBadDocuments) {
  const std::string cases[] = {
      "x",
      "<",
      "<SignedIdentifiers>",
      "<Other/>",
      document(identifier("")),
      document("<SignedIdentifier/>"),
      document(identifier("same") + identifier("same")),
      document(identifier("a", "<AccessPolicy><Start>soon</Start></AccessPolicy>")),
      document(identifier("a", "<AccessPolicy><Expiry>2009-13-01</Expiry></AccessPolicy>")),
      document(identifier(std::string(kMaxPolicyIdLength + 1, 'i'))),
      // What could not be told back.
      document(identifier("\xff")),
      document(identifier("a\x01")),
      document(identifier("&#x1;")),
  };
  for (const auto& xml : cases) {
    const auto policies = parse(xml);
    ASSERT_FALSE(policies.ok()) << xml;
    EXPECT_EQ(policies.error().code, wire::Code::kInvalidXmlDocument) << xml;
  }
}

TEST(AccessPolicies, PermissionsAreThoseOfTheService) {
  const auto code_with = [](const std::string& permission, auth::Letters letters) {
    const auto xml = document(identifier(
        "a", "<AccessPolicy><Permission>" + permission + "</Permission></AccessPolicy>"));
    const auto policies = parse_access_policies(xml, letters);
    return policies ? "" : std::string(wire::name(policies.error().code));
  };
  EXPECT_EQ(code_with("raup", "raup"), "");
  EXPECT_EQ(code_with("", "raup"), "");
  for (const char* unknown : {"z", "rz", "R", "r w", "r,a", "w", "1"})
    EXPECT_EQ(code_with(unknown, "raup"), "InvalidXmlDocument") << unknown;
}

TEST(AccessPolicies, LimitsTheirNumberAndTheLengthOfIds) {
  EXPECT_TRUE(parse(document(identifier(std::string(kMaxPolicyIdLength, 'i')))).ok());
  std::string identifiers;
  for (size_t i = 0; i < kMaxAccessPolicies; ++i) identifiers += identifier(std::to_string(i));
  EXPECT_TRUE(parse(document(identifiers)).ok());
  EXPECT_FALSE(parse(document(identifiers + identifier("more"))).ok());
}

// Elements nested a million deep must cost an error, not the stack.
TEST(AccessPolicies, SurvivesDeepNesting) {
  constexpr size_t kDepth = 1'000'000;
  std::string xml;
  for (size_t i = 0; i < kDepth; ++i) xml += "<a>";
  for (size_t i = 0; i < kDepth; ++i) xml += "</a>";
  EXPECT_FALSE(parse(xml).ok());
}

TEST(AccessPolicies, WhatIsWrittenReadsBack) {
  std::vector<auth::AccessPolicy> policies(3);
  policies[0] = {"full <id>", Time::from_unix_seconds(1'700'000'000),
                 Time{Time::from_unix_seconds(1'800'000'000).ticks + 1}, "racwdl"};
  policies[1].id = "bare";
  policies[2] = {"partly", {}, {}, "r"};
  const auto read = parse(write_access_policies(policies));
  ASSERT_TRUE(read.ok());
  ASSERT_EQ(read->size(), policies.size());
  for (size_t i = 0; i < policies.size(); ++i) {
    EXPECT_EQ((*read)[i].id, policies[i].id);
    EXPECT_EQ((*read)[i].start, policies[i].start);
    EXPECT_EQ((*read)[i].expiry, policies[i].expiry);
    EXPECT_EQ((*read)[i].permission, policies[i].permission);
    const auto stored = store::decode<StoredPolicy>(store::encode(StoredPolicy{policies[i]}));
    ASSERT_TRUE(stored);
    EXPECT_EQ(stored->id, policies[i].id);
    EXPECT_EQ(stored->start, policies[i].start);
    EXPECT_EQ(stored->expiry, policies[i].expiry);
    EXPECT_EQ(stored->permission, policies[i].permission);
  }
}

}  // namespace
}  // namespace kyanite::account
