// What clients set of something that they have open: times, attributes, security descriptors.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/task.h"
#include "store/occasion.h"
#include "tree/error.h"
#include "tree/opened.h"
#include "tree/sddl.h"

namespace kyanite::tree {

// One of the times of a file, as a client wants it.
struct TimeOrder {
  enum Kind {
    kKeep,
    kSet,     // And what is done through this handle does not move it any more.
    kFreeze,  // What is done through this handle does not move it any more,
    kThaw,    // and does again.
  };
  Kind kind = kKeep;
  Time time;
};

struct BasicOrder {
  TimeOrder created;
  TimeOrder accessed;
  TimeOrder written;
  TimeOrder changed;
  std::optional<Attributes> attributes;
};
Task<Result<void>> set_basic(store::Occasion& occasion, Opened& opened, const BasicOrder& order);

// The security descriptor that an entry has.
Task<Result<SecurityDescriptor>> descriptor_of(store::Occasion& occasion, const Tree& tree,
                                               const Entry& entry);
// The key of the permission that something new in a directory gets: the parts of a descriptor in
// binary form, if its maker has one, and for the others what it inherits. Empty, which is the
// default, where nobody has set a descriptor. kBadPermission for what is none.
Task<Result<std::string>> new_permission(store::Occasion& occasion, const Tree& tree,
                                         const Entry& parent, bool directory,
                                         std::optional<std::string_view> binary);
// Replaces parts of it. kBadPermission for what is no descriptor.
Task<Result<void>> set_descriptor(store::Occasion& occasion, Opened& opened,
                                  std::string_view binary, DescriptorParts parts);

}  // namespace kyanite::tree
