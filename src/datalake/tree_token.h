// What requests on whole trees hand out to go on with where nobody must skip a part, or lead them
// elsewhere: a continuation that is authenticated under the account's first key.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "service/call.h"
#include "wire/error.h"

namespace kyanite::datalake {

// `bound` is what it holds for. It begins with a line that no other use of the key begins with.
std::string write_token(const service::Call& call, std::string_view bound, std::string_view said);
// What the request's continuation says; nothing without one. 400 where it was not handed out for
// this.
wire::Result<std::optional<std::string>> read_token(const service::Call& call,
                                                    std::string_view bound);
// 400 for a continuation that says something else than was ever handed out.
wire::Error invalid_token(const service::Call& call);

// Adds a text that may have any length, so that it is told from what follows.
void append_bound(std::string& bound, std::string_view text);

}  // namespace kyanite::datalake
