#include "table/names.h"

#include "base/bytes.h"
#include "table/entity.h"
#include "table/value.h"
#include "wire/query.h"

namespace kyanite::table {

namespace {
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Control characters (those of C1 are two bytes in UTF-8) and what URLs could not carry.
bool has_forbidden_character(std::string_view key) {
  for (size_t i = 0; i < key.size(); ++i) {
    const auto byte = static_cast<unsigned char>(key[i]);
    if (byte < 0x20 || byte == 0x7F || key[i] == '/' || key[i] == '\\' || key[i] == '#' ||
        key[i] == '?') {
      return true;
    }
    const bool c1 =
        byte == 0xC2 && i + 1 < key.size() && static_cast<unsigned char>(key[i + 1]) <= 0x9F;
    if (c1) return true;
  }
  return false;
}

bool take(std::string_view& text, std::string_view expected) {
  if (!text.starts_with(expected)) return false;
  text.remove_prefix(expected.size());
  return true;
}

// 'it''s': takes the quoted text off, with quotes undoubled.
std::optional<std::string> take_quoted(std::string_view& text) {
  if (!take(text, "'")) return {};
  std::string out;
  while (!text.empty()) {
    const char c = text.front();
    text.remove_prefix(1);
    if (c == '\'') {
      if (!text.starts_with('\'')) return out;
      text.remove_prefix(1);
    }
    out.push_back(c);
  }
  return {};
}

void skip_blanks(std::string_view& text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
}

// PartitionKey='a',RowKey='b' in either order.
std::optional<auth::EntityKeys> parse_keys(std::string_view text) {
  std::optional<std::string> partition, row;
  for (int i = 0; i < 2; ++i) {
    skip_blanks(text);
    if (i == 1) {
      if (!take(text, ",")) return {};
      skip_blanks(text);
    }
    std::optional<std::string>* key = nullptr;
    if (take(text, "PartitionKey=")) {
      key = &partition;
    } else if (take(text, "RowKey=")) {
      key = &row;
    }
    if (key == nullptr || *key) return {};
    *key = take_quoted(text);
    if (!*key) return {};
  }
  skip_blanks(text);
  if (!text.empty()) return {};
  return auth::EntityKeys{std::move(*partition), std::move(*row)};
}

void append_key(std::string& out, std::string_view key) {
  out.push_back('\'');
  for (char c : key) {
    if (c == '\'') out.push_back('\'');
    out.push_back(c);
  }
  out.push_back('\'');
}
}  // namespace

wire::Result<void> check_table_name(std::string_view name) {
  if (name.size() < kMinTableName || name.size() > kMaxTableName) {
    return wire::Error(wire::Code::kOutOfRangeInput)
        .saying("The specified resource name length is not within the permissible limits.");
  }
  bool good = is_letter(name.front());
  for (char c : name) good = good && (is_letter(c) || is_digit(c));
  if (!good || equals_ignoring_case(name, "tables"))
    return wire::Error(wire::Code::kInvalidResourceName);
  return {};
}

wire::Result<void> check_key(std::string_view which, std::string_view key) {
  if (utf16_length(key) > kMaxKeyLength || has_forbidden_character(key) || !is_valid_utf8(key)) {
    std::string text = "The '";
    text.append(which).append("' parameter of value '").append(key).append("' is out of range.");
    return wire::Error(wire::Code::kOutOfRangeInput).saying(text);
  }
  return {};
}

wire::Result<void> check_property_name(std::string_view name) {
  if (utf16_length(name) > kMaxPropertyNameLength)
    return wire::Error(wire::Code::kPropertyNameTooLong);
  const auto may_be_letter = [](char c) {
    return is_letter(c) || c == '_' || static_cast<unsigned char>(c) >= 0x80;
  };
  bool good = !name.empty() && may_be_letter(name.front());
  for (char c : name) good = good && (may_be_letter(c) || is_digit(c));
  if (!good) return wire::Error(wire::Code::kPropertyNameInvalid);
  return {};
}

std::optional<ResourcePath> parse_resource_path(std::string_view path) {
  const size_t open = path.find('(');
  if (open == std::string_view::npos) {
    if (path.find('/') != std::string_view::npos) return {};
    return ResourcePath{path, {}};
  }
  if (path.back() != ')') return {};
  ResourcePath resource{path.substr(0, open), {}};
  const std::string_view inside = path.substr(open + 1, path.size() - open - 2);
  if (inside.empty()) return resource;
  resource.keys = parse_keys(inside);
  if (!resource.keys) return {};
  return resource;
}

std::optional<std::string> parse_tables_path(std::string_view path) {
  if (!take(path, "Tables(")) return {};
  auto name = take_quoted(path);
  if (!name || path != ")") return {};
  return name;
}

std::string entity_path(std::string_view table, std::string_view partition, std::string_view row) {
  std::string keys;
  keys.append(table).append("(PartitionKey=");
  append_key(keys, partition);
  keys.append(",RowKey=");
  append_key(keys, row);
  keys.push_back(')');
  return wire::percent_encode(keys, "()=,'@!$*:;");
}

}  // namespace kyanite::table
