#include "auth/sas_form.h"

#include "auth/testing.h"

namespace kyanite::auth {
namespace {

// Longest values that are fine as far as their form goes: what is wrong with them is found later.
TEST(SasForm, ParametersAreLimitedBeforeTheyAreLookedAt) {
  for (const auto& [name, most] : sas_parameters()) {
    for (const size_t bytes : {most, most + 1}) {
      const std::string query = std::string(name) + "=" + std::string(bytes, 'a');
      const auto parsed = wire::Query::parse(query);
      ASSERT_TRUE(parsed);
      EXPECT_EQ(code_of(check_sas_form(*parsed)), bytes == most ? "" : "AuthenticationFailed")
          << name << " of " << bytes;
    }
    std::string capital(name);
    capital[0] = static_cast<char>(capital[0] - 'a' + 'A');
    for (const std::string& again : {std::string(name), capital}) {
      const auto twice = wire::Query::parse(std::string(name) + "=1&x=2&" + again + "=1");
      ASSERT_TRUE(twice);
      EXPECT_EQ(code_of(check_sas_form(*twice)), "AuthenticationFailed") << name;
    }
  }
  const auto others = wire::Query::parse("comp=a&comp=b&prefix=" + std::string(9000, 'a'));
  EXPECT_TRUE(check_sas_form(*others).ok());
}

TEST(SasForm, ListsOfSignedNamesAreLimited) {
  const auto outcome = [](const std::string& value) {
    return code_of(check_sas_form(*wire::Query::parse("srh=" + value)));
  };
  std::string names;
  for (size_t i = 0; i < kMaxSignedNames; ++i) names += "h" + std::to_string(i) + ",";
  EXPECT_EQ(outcome(names), "");
  EXPECT_EQ(outcome(names + "one-more"), "AuthenticationFailed");
  EXPECT_EQ(outcome("a,b,c"), "");
  EXPECT_EQ(outcome("a,b,%20A"), "AuthenticationFailed");  // Each value would be signed twice.
}

}  // namespace
}  // namespace kyanite::auth
