#include "import/loki.h"

#include <cerrno>

#include "base/bytes.h"
#include "os/directory.h"
#include "wire/date.h"

namespace kyanite::import {

using simdjson::dom::element;

std::optional<element> Document::find(std::string_view name) const {
  simdjson::dom::object object;
  element found;
  if (!get(object)) return std::nullopt;
  if (object.at_key(name).get(found) != simdjson::SUCCESS || found.is_null()) return std::nullopt;
  return found;
}

bool Document::has(std::string_view name) const { return find(name).has_value(); }

std::string Document::text(std::string_view name) const {
  const auto found = find(name);
  std::string_view text;
  if (!found || found->get(text) != simdjson::SUCCESS) return {};
  return std::string(text);
}

std::optional<int64_t> Document::as_number() const {
  int64_t number = 0;
  if (!element_) return std::nullopt;
  if (element_->get(number) == simdjson::SUCCESS) return number;
  // Some numbers are written as texts.
  std::string_view text;
  if (element_->get(text) == simdjson::SUCCESS) return parse_int(text);
  return std::nullopt;
}

std::optional<int64_t> Document::number(std::string_view name) const {
  return object(name).as_number();
}

bool Document::flag(std::string_view name) const {
  const auto found = find(name);
  bool flag = false;
  return found && found->get(flag) == simdjson::SUCCESS && flag;
}

Time Document::date(std::string_view name) const {
  return wire::parse_iso_date(text(name)).value_or(Time());
}

Time Document::milliseconds(std::string_view name) const {
  const auto count = number(name);
  if (!count) return {};
  return {kUnixEpochTicks + *count * (kTicksPerSecond / 1000)};
}

Document Document::object(std::string_view name) const { return Document(find(name)); }

std::vector<Document> Document::list(std::string_view name) const {
  std::vector<Document> all;
  const auto found = find(name);
  simdjson::dom::array array;
  if (!found || found->get(array) != simdjson::SUCCESS) return all;
  for (const element each : array) all.emplace_back(std::optional(each));
  return all;
}

std::string Document::bytes(std::string_view name) const {
  const auto found = find(name);
  if (!found) return {};
  std::string_view text;
  if (found->get(text) == simdjson::SUCCESS) return unbase64(text).value_or("");
  const Document object(*found);
  std::string bytes;
  for (const auto& each : object.list("data")) {
    bytes += static_cast<char>(each.as_number().value_or(0));
  }
  for (size_t i = 0;; ++i) {
    const auto byte = object.number(std::to_string(i));
    if (!byte) break;
    bytes += static_cast<char>(*byte);
  }
  return bytes;
}

std::vector<std::pair<std::string, std::string>> Document::texts() const {
  std::vector<std::pair<std::string, std::string>> all;
  simdjson::dom::object object;
  if (!get(object)) return all;
  for (const auto& [name, value] : object) {
    std::string_view text;
    if (value.get(text) == simdjson::SUCCESS) all.emplace_back(name, text);
  }
  return all;
}

Result<Database, std::string> Database::load(const std::string& path) {
  Database database;
  auto text = os::read_text(path);
  if (!text && text.error().code == ENOENT) return database;
  if (!text) return Failure{text.error().what};
  database.parser_ = std::make_unique<simdjson::dom::parser>();
  if (database.parser_->parse(*text).get(database.root_) != simdjson::SUCCESS)
    return Failure{path + " is no JSON"};
  if (!Document(database.root_).has("collections"))
    return Failure{path + " is no database of Azurite's"};
  database.exists_ = true;
  return database;
}

bool Database::each_collection(const SeeCollection& see) const {
  if (!exists_) return true;
  for (const auto& collection : Document(root_).list("collections")) {
    if (!see(collection.text("name"), collection)) return false;
  }
  return true;
}

bool Database::each(std::string_view collection, const See& see) const {
  return each_collection([&](std::string_view name, const Document& found) {
    if (name != collection) return true;
    for (const auto& document : found.list("data")) {
      if (!see(document)) return false;
    }
    return true;
  });
}

}  // namespace kyanite::import
