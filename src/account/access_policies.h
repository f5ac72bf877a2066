// Stored access policies (SignedIdentifiers) of containers, queues, tables and shares: XML and
// record form.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "auth/caller.h"
#include "wire/error.h"
#include "wire/xml.h"

namespace kyanite::account {

inline constexpr size_t kMaxAccessPolicies = 5;
inline constexpr size_t kMaxPolicyIdLength = 64;

// An empty body is an empty list. `letters` are the permissions there are in the service.
wire::Result<std::vector<auth::AccessPolicy>> parse_access_policies(std::string_view xml,
                                                                    auth::Letters letters);
std::string write_access_policies(const std::vector<auth::AccessPolicy>& policies);

// The policy as a record has it.
struct StoredPolicy : auth::AccessPolicy {
  template <class Io>
  void fields(Io& io) {
    io(1, id);
    io(2, start);
    io(3, expiry);
    io(4, permission);
  }
};

}  // namespace kyanite::account
