// XML documents from clients: whatever is accepted can be written, and reads back as the same.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "account/access_policies.h"
#include "account/properties.h"
#include "base/check.h"

namespace {
using namespace kyanite;

void check_policies(std::string_view xml) {
  const auto policies = account::parse_access_policies(xml, "rwdl");
  if (!policies) return;
  CHECK(policies->size() <= account::kMaxAccessPolicies);
  const std::string written = account::write_access_policies(*policies);
  const auto again = account::parse_access_policies(written, "rwdl");
  CHECK(again && account::write_access_policies(*again) == written);
}

void check_properties(std::string_view xml, wire::Service kind) {
  account::ServiceProperties properties;
  if (!account::merge_properties(xml, kind, properties)) return;
  CHECK(properties.cors.size() <= account::kMaxCorsRules);
  const std::string written = account::write_properties(properties, kind, wire::Version{20260406});
  account::ServiceProperties again;
  CHECK(account::merge_properties(written, kind, again));
  CHECK(account::write_properties(again, kind, wire::Version{20260406}) == written);
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view xml(reinterpret_cast<const char*>(data), size);
  check_policies(xml);
  check_properties(xml, wire::Service::kBlob);
  check_properties(xml, wire::Service::kFile);
  return 0;
}
