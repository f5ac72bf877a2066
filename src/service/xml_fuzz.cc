// XML documents from clients: whatever is accepted can be written, and reads back as the same.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "service/access_policies.h"
#include "service/properties.h"

namespace {
using namespace kyanite;

void check_policies(std::string_view xml) {
  const auto policies = service::parse_access_policies(xml, "rwdl");
  if (!policies) return;
  CHECK(policies->size() <= service::kMaxAccessPolicies);
  const std::string written = service::write_access_policies(*policies);
  const auto again = service::parse_access_policies(written, "rwdl");
  CHECK(again && service::write_access_policies(*again) == written);
}

void check_properties(std::string_view xml, wire::Service kind) {
  service::ServiceProperties properties;
  if (!service::merge_properties(xml, kind, properties)) return;
  CHECK(properties.cors.size() <= service::kMaxCorsRules);
  const std::string written = service::write_properties(properties, kind, wire::Version{20260406});
  service::ServiceProperties again;
  CHECK(service::merge_properties(written, kind, again));
  CHECK(service::write_properties(again, kind, wire::Version{20260406}) == written);
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view xml(reinterpret_cast<const char*>(data), size);
  check_policies(xml);
  check_properties(xml, wire::Service::kBlob);
  check_properties(xml, wire::Service::kFile);
  return 0;
}
