// Requests as a client of Azure sends them, signed with the account's key.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "requests.h"

namespace kyanite::load {

using Headers = std::map<std::string, std::string>;

struct Shape {
  std::string_view method;
  std::string path;
  std::string query;  // "name=value&...", as it is sent, or empty
  Headers own = {};   // x-ms- headers beyond those that every request has
  size_t length = 0;  // of the body
  std::string_view content_type = {};
};

std::string http_date();
std::string make_head(const Options& options, const Shape& shape, const std::string& date);
std::string unbase64(std::string_view text);
std::string percent_encode(std::string_view text);

}  // namespace kyanite::load
