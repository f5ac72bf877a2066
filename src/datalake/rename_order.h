// What a rename asks for, apart from the two paths.
#pragma once

#include <optional>
#include <string>

#include "blob/blob.h"
#include "http/url.h"
#include "service/call.h"
#include "wire/error.h"

namespace kyanite::datalake {

inline constexpr std::string_view kRenameSource = "x-ms-rename-source";

// What a directory at the destination means.
enum class RenameMode {
  kPosix,   // The source goes into it, under its own name.
  kLegacy,  // It is in the way, unless it is empty and the source is a directory, or it is the
            // root.
};

struct RenameOrder {
  RenameMode mode;
  std::string to;  // The path that was asked for.
  blob::Checks source;
  blob::Checks destination;
  std::optional<headers::Metadata> properties;
  std::string transaction;
};
wire::Result<RenameOrder> decode_rename_order(const service::Call& call);

// x-ms-rename-source as a URL of this server.
wire::Result<http::Url> decode_rename_source(const service::Call& call);

// The path of what goes into a directory under its own name; "" is the root.
std::string path_inside(std::string_view directory, std::string_view source);

// A SAS takes more for the source than for the destination: to move it away (m), or to write and to
// delete it. One that came for the destination reaches the source unless it is for a single path.
wire::Result<void> check_source_caller(const service::Call& call, const service::Call& source,
                                       bool own_credentials);

// What lies in a directory, be it moved or moved into, is beyond a SAS for one path.
wire::Result<void> check_rename_reach(const service::Call& call, const service::Call& from,
                                      bool moves_tree, bool moves_into);

}  // namespace kyanite::datalake
