// What a storage service offers the front.
#pragma once

#include <span>
#include <string_view>

#include "auth/caller.h"
#include "base/task.h"
#include "service/call.h"
#include "service/operation.h"
#include "wire/error.h"

namespace kyanite::transfer {
class Sources;
}

namespace kyanite::service {

class Service {
 public:
  virtual ~Service() = default;
  virtual wire::Service kind() const = 0;
  virtual std::span<const Operation> operations() const = 0;
  // Fills level, container and object of the target from the decoded path below the account ("" for
  // the service itself).
  virtual wire::Result<void> address(Call& call, std::string_view path) const = 0;
  // Gives the reply the error as this service writes it: body and its type, x-ms-error-code. The
  // default is the XML document of most services.
  virtual void render(const Call& call, const wire::Error& error, http::Reply& reply) const;
  // What the addressed container's record says about access; an empty Acl when there is none.
  virtual Task<wire::Result<auth::Acl>> acl(Call& call) const = 0;
  // Its objects as sources of copies into other services; null where it has none.
  virtual const transfer::Sources* sources() const { return nullptr; }
  // Work that no request waits for (removing what expired or was deleted): a bounded amount a call,
  // one call at a time, about once a second.
  virtual Task<void> tend(Context&) const { co_return; }
};

}  // namespace kyanite::service
