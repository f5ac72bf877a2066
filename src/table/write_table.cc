#include "table/write_table.h"

namespace kyanite::table {

std::string table_path(std::string_view name) { return "Tables('" + std::string(name) + "')"; }

void write_table(wire::JsonWriter& json, const service::Call& call, Metadata metadata,
                 std::string_view name) {
  if (metadata == Metadata::kFull) {
    json.member("odata.type", call.target.account + ".Tables");
    json.member("odata.id", call.endpoint + table_path(name));
    json.member("odata.editLink", table_path(name));
  }
  json.member("TableName", name);
}

void write_table_element(std::string& out, const service::Call& call, Metadata metadata,
                         std::string_view name) {
  wire::JsonWriter json(out);
  json.begin_object();
  if (metadata != Metadata::kNone)
    json.member("odata.metadata", call.endpoint + "$metadata#Tables/@Element");
  write_table(json, call, metadata, name);
  json.end_object();
}

}  // namespace kyanite::table
