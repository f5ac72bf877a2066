#include "file/handles.h"

#include "file/names.h"

namespace kyanite::file {

Task<wire::Result<HandlesTarget>> find_handles_target(service::Call& call) {
  constexpr std::string_view kRecursive = "x-ms-recursive";
  auto recursive = decode_flag(call, kRecursive);
  if (!recursive) co_return recursive.error();
  auto located = co_await locate(call, Kind::kEither);
  if (!located) co_return located.error();
  if (*recursive && !located->found.entry->directory)
    co_return wire::invalid_header(kRecursive, *call.headers().find(kRecursive));
  co_return HandlesTarget{std::move(*located), *recursive};
}

}  // namespace kyanite::file
