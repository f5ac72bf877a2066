// What a storage service offers the front.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "auth/caller.h"
#include "base/task.h"
#include "service/call.h"
#include "service/operation.h"
#include "wire/error.h"

namespace kyanite::jobs {
struct Job;
}
namespace kyanite::transfer {
class Sources;
}

namespace kyanite::service {

class Service {
 public:
  virtual ~Service() = default;
  virtual wire::Service kind() const = 0;
  virtual std::span<const Operation> operations() const = 0;
  // Those among which this request's is: all, unless several APIs share a port.
  virtual std::span<const Operation> operations_for(const Call&) const { return operations(); }
  // Fills level, container and object of the target from the decoded path below the account ("" for
  // the service itself).
  virtual wire::Result<void> address(Call& call, std::string_view path) const = 0;
  // Gives the reply the error as this service writes it: body and its type, x-ms-error-code. The
  // default is the XML document of most services.
  virtual void render(const Call& call, const wire::Error& error, http::Reply& reply) const;
  // What the addressed container's record says about access; an empty Acl when there is none.
  virtual Task<wire::Result<auth::Acl>> acl(Call& call) const = 0;
  // For callers that only access control of paths can admit: whether what is addressed has any.
  // 403 where it has not, as everywhere by default.
  virtual Task<wire::Result<void>> require_paths(Call& call) const;
  // Its objects as sources of copies into other services; null where it has none.
  virtual const transfer::Sources* sources() const { return nullptr; }
  // Its work that no request waits for: removing what expired or was deleted, say. The jobs use the
  // context and the service.
  virtual std::vector<jobs::Job> make_jobs(Context& context) const;
};

}  // namespace kyanite::service
