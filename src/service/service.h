// What a storage service offers the front.
#pragma once

#include <span>
#include <string_view>

#include "auth/caller.h"
#include "base/task.h"
#include "service/call.h"
#include "service/operation.h"
#include "wire/error.h"

namespace kyanite::service {

class Service {
 public:
  virtual ~Service() = default;
  virtual wire::Service kind() const = 0;
  virtual std::span<const Operation> operations() const = 0;
  // Fills level, container and object of the target from the decoded path below the account ("" for
  // the service itself).
  virtual wire::Result<void> address(Call& call, std::string_view path) const = 0;
  // What the addressed container's record says about access; an empty Acl when there is none.
  virtual Task<wire::Result<auth::Acl>> acl(Call& call) const = 0;
};

}  // namespace kyanite::service
