// Tables in JSON.
#pragma once

#include <string>
#include <string_view>

#include "service/call.h"
#include "table/json_entity.h"

namespace kyanite::table {

// "Tables('People')"
std::string table_path(std::string_view name);
// The members of one table, within an object opened by the caller.
void write_table(wire::JsonWriter& json, const service::Call& call, Metadata metadata,
                 std::string_view name);
// A whole document about one table.
void write_table_element(std::string& out, const service::Call& call, Metadata metadata,
                         std::string_view name);

}  // namespace kyanite::table
