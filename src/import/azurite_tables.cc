#include <limits>
#include <map>

#include "base/bytes.h"
#include "import/target.h"
#include "lifetime/directory.h"
#include "table/entity.h"
#include "table/table.h"

namespace kyanite::import {

namespace {

using table::Edm;
using table::Value;

constexpr std::string_view kTypeMark = "@odata.type";

// A value that may own its bytes.
struct Owned {
  Value value;
  std::string bytes;
};

std::optional<Edm> type_of(const Document& properties, const std::string& name,
                           simdjson::dom::element element) {
  if (const auto said = table::parse_edm(properties.text(name + std::string(kTypeMark))))
    return said;
  if (element.is_string()) return Edm::kString;
  if (element.is_bool()) return Edm::kBoolean;
  int64_t whole = 0;
  const bool is_whole = element.get(whole) == simdjson::SUCCESS;
  if (is_whole && whole >= std::numeric_limits<int32_t>::min() &&
      whole <= std::numeric_limits<int32_t>::max())
    return Edm::kInt32;
  if (element.is_number()) return Edm::kDouble;
  return std::nullopt;
}

// Text in the value has to stay where it is.
bool read_value(Edm type, simdjson::dom::element element, Owned& out) {
  std::string_view text;
  const bool is_text = element.get(text) == simdjson::SUCCESS;
  int64_t whole = 0;
  bool is_whole = element.get(whole) == simdjson::SUCCESS;
  if (is_text) {
    if (const auto parsed = parse_int(text)) {
      whole = *parsed;
      is_whole = true;
    }
  }
  out.value.type = type;
  switch (type) {
    case Edm::kString:
      out.value.bytes = text;
      return is_text;
    case Edm::kInt32:
    case Edm::kInt64:
      out.value.number = whole;
      return is_whole;
    case Edm::kDouble: {
      if (is_text) {
        const auto real = table::parse_double(text);
        out.value.real = real.value_or(0);
        return real.has_value();
      }
      return element.get(out.value.real) == simdjson::SUCCESS;
    }
    case Edm::kBoolean: {
      bool flag = false;
      if (element.get(flag) != simdjson::SUCCESS) return false;
      out.value.number = flag ? 1 : 0;
      return true;
    }
    case Edm::kDateTime: {
      const auto time = table::parse_date_time(text);
      if (time) out.value.number = time->ticks;
      return time.has_value();
    }
    case Edm::kGuid: {
      auto bytes = table::parse_guid_bytes(text);
      // Azurite keeps its text in base64.
      if (!bytes) bytes = table::parse_guid_bytes(unbase64(text).value_or(""));
      if (!bytes) return false;
      out.bytes = std::move(*bytes);
      out.value.bytes = out.bytes;
      return true;
    }
    case Edm::kBinary: {
      auto bytes = unbase64(text);
      if (!bytes) return false;
      out.bytes = std::move(*bytes);
      out.value.bytes = out.bytes;
      return true;
    }
  }
  return false;
}

Outcome add_entity(Target& target, store::SpaceId space, const Document& document) {
  const auto properties = document.object("properties");
  const std::string partition = document.text("PartitionKey");
  const std::string row = document.text("RowKey");
  simdjson::dom::object object;
  if (!properties.get(object))
    return Failure{"the entity " + partition + ", " + row + " has no properties"};
  std::string encoded;
  for (const auto& [key, element] : object) {
    const std::string name(key);
    if (name == table::kPartitionKey || name == table::kRowKey || name == table::kTimestamp)
      continue;
    if (name.ends_with(kTypeMark) || name.starts_with("odata.") || element.is_null()) continue;
    const auto type = type_of(properties, name, element);
    Owned value;
    if (!type || !read_value(*type, element, value)) {
      return Failure{"the property " + name + " of the entity " + partition + ", " + row +
                     " has a value that cannot be understood"};
    }
    table::append_property(encoded, {name, value.value});
  }
  Time changed = document.date("lastModifiedTime");
  if (!changed.set()) changed = target.now;
  store::Commit commit;
  commit.put(store::Key(space, table::kEntities, partition, row),
             std::make_shared<const store::SharedRecord>(
                 store::Record{table::encode_entity(changed, encoded), {}}));
  ++target.counts.entities;
  return target.commit(std::move(commit));
}

}  // namespace

Outcome import_tables(Target& target, const Database& database) {
  if (auto done = import_properties(target, database, "table"); !done) return done;
  std::map<std::string, store::SpaceId> spaces;  // by the name of the collection
  Outcome outcome;
  database.each("$TABLES_COLLECTION$", [&](const Document& document) {
    table::Table made;
    made.space = lifetime::new_space();
    made.created = document.object("meta").milliseconds("created");
    made.name = document.text("table");
    made.policies = policies_of<account::StoredPolicy>(document, "tableAcl");
    const std::string account = document.text("account");
    if (account.empty() || made.name.empty()) {
      outcome = Failure{std::string("a table has no name")};
      return false;
    }
    spaces[account + "$" + made.name] = made.space;
    store::Commit commit;
    commit.put(store::Key(lifetime::directory_space(account), lifetime::kTablesFamily,
                          ascii_lower(made.name)),
               record_of(made));
    ++target.counts.tables;
    outcome = target.commit(std::move(commit));
    return outcome.ok();
  });
  if (!outcome) return outcome;
  database.each_collection([&](std::string_view name, const Document& collection) {
    const auto space = spaces.find(std::string(name));
    if (space == spaces.end()) return true;
    for (const auto& document : collection.list("data")) {
      outcome = add_entity(target, space->second, document);
      if (!outcome) return false;
    }
    return true;
  });
  return outcome;
}

}  // namespace kyanite::import
