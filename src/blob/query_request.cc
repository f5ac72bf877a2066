#include "blob/query_request.h"

#include <optional>
#include <pugixml.hpp>
#include <utility>

#include "account/xml_error.h"
#include "base/bytes.h"

namespace kyanite::blob {

using wire::Code;

namespace {

constexpr size_t kMaxSeparatorBytes = 16;
constexpr size_t kMaxArrowFields = 1024;

wire::Error invalid_node(std::string_view node, std::string_view value) {
  return wire::Error(Code::kInvalidXmlNodeValue)
      .with("XmlNodeName", node)
      .with("XmlNodeValue", value);
}

wire::Error missing_node(std::string_view node) {
  return wire::Error(Code::kMissingRequiredXmlNode).with("XmlNodeName", node);
}

// What is not given, or empty, stays as it is.
wire::Result<void> parse_separator(const pugi::xml_node& parent, const char* node,
                                   std::string& out) {
  const std::string_view text = parent.child_value(node);
  if (text.size() > kMaxSeparatorBytes) return invalid_node(node, text);
  if (!text.empty()) out = text;
  return {};
}

wire::Result<void> parse_character(const pugi::xml_node& parent, const char* node, char& out) {
  const std::string_view text = parent.child_value(node);
  if (text.size() > 1) return invalid_node(node, text);
  if (!text.empty()) out = text.front();
  return {};
}

wire::Result<sql::DelimitedFormat> parse_delimited(const pugi::xml_node& configuration) {
  sql::DelimitedFormat format;
  if (auto ok = parse_separator(configuration, "ColumnSeparator", format.column_separator); !ok)
    return ok.error();
  if (auto ok = parse_separator(configuration, "RecordSeparator", format.record_separator); !ok)
    return ok.error();
  if (auto ok = parse_character(configuration, "FieldQuote", format.quote); !ok) return ok.error();
  if (auto ok = parse_character(configuration, "EscapeChar", format.escape); !ok) return ok.error();
  const std::string_view headers = trim(configuration.child_value("HasHeaders"));
  format.headers = equals_ignoring_case(headers, "true");
  if (!format.headers && !headers.empty() && !equals_ignoring_case(headers, "false"))
    return invalid_node("HasHeaders", headers);
  // One of them would never be seen.
  if (format.column_separator == format.record_separator)
    return invalid_node("RecordSeparator", format.record_separator);
  for (const auto& separator : {format.column_separator, format.record_separator}) {
    if (separator.front() == format.quote) return invalid_node("FieldQuote", separator);
    if (separator.front() == format.escape) return invalid_node("EscapeChar", separator);
  }
  return format;
}

wire::Result<sql::JsonFormat> parse_json(const pugi::xml_node& configuration) {
  sql::JsonFormat format;
  if (auto ok = parse_separator(configuration, "RecordSeparator", format.record_separator); !ok)
    return ok.error();
  return format;
}

wire::Result<sql::ArrowField> parse_arrow_field(const pugi::xml_node& node) {
  sql::ArrowField field;
  const std::string_view name = node.child_value("Type");
  const auto type = sql::parse_arrow_type(trim(name));
  if (!type) return invalid_node("Type", name);
  field.type = *type;
  field.name = node.child_value("Name");
  if (field.type != sql::ArrowType::kDecimal) return field;
  for (const auto& [tag, number] :
       {std::pair("Precision", &field.precision), std::pair("Scale", &field.scale)}) {
    const std::string_view text = trim(node.child_value(tag));
    const auto parsed = parse_uint(text);
    if (!parsed || *parsed > sql::kMaxDecimalPrecision) return invalid_node(tag, text);
    *number = static_cast<int>(*parsed);
  }
  if (field.precision == 0 || field.scale > field.precision)
    return invalid_node("Precision", node.child_value("Precision"));
  return field;
}

wire::Result<sql::ArrowFormat> parse_arrow(const pugi::xml_node& configuration) {
  sql::ArrowFormat format;
  for (const auto& node : configuration.child("Schema").children("Field")) {
    auto field = parse_arrow_field(node);
    if (!field) return field.error();
    format.schema.push_back(std::move(*field));
    if (format.schema.size() > kMaxArrowFields) return invalid_node("Schema", "");
  }
  if (format.schema.empty()) return missing_node("Schema");
  return format;
}

// <Format><Type>...</Type><...Configuration>...</...Configuration></Format>
template <class Format>
wire::Result<Format> parse_format(const pugi::xml_node& serialization) {
  constexpr bool kIsInput = std::is_same_v<Format, sql::InputFormat>;
  const auto format = serialization.child("Format");
  if (!format) return missing_node("Format");
  const std::string_view type = trim(format.child_value("Type"));
  if (type == "delimited") {
    auto delimited = parse_delimited(format.child("DelimitedTextConfiguration"));
    if (!delimited) return delimited.error();
    return Format(std::move(*delimited));
  }
  if (type == "json") {
    auto json = parse_json(format.child("JsonTextConfiguration"));
    if (!json) return json.error();
    return Format(std::move(*json));
  }
  if constexpr (kIsInput) {
    if (type == "parquet") {
      return wire::Error(Code::kNotImplemented)
          .saying("Queries of Parquet data are not implemented by this server.");
    }
  } else {
    if (type == "arrow") {
      auto arrow = parse_arrow(format.child("ArrowConfiguration"));
      if (!arrow) return arrow.error();
      return Format(std::move(*arrow));
    }
  }
  return invalid_node("Type", type);
}

}  // namespace

wire::Result<QueryRequest> parse_query_request(std::string_view xml) {
  pugi::xml_document document;
  // A separator may be a line end or another blank.
  const auto parsed = document.load_buffer(xml.data(), xml.size(),
                                           pugi::parse_default | pugi::parse_ws_pcdata_single);
  if (!parsed) return account::invalid_xml(xml, static_cast<size_t>(parsed.offset));
  const auto root = document.child("QueryRequest");
  if (!root) return account::invalid_xml(xml, 0);
  QueryRequest request;
  const std::string_view type = trim(root.child_value("QueryType"));
  if (type.empty()) return missing_node("QueryType");
  if (!equals_ignoring_case(type, "SQL")) return invalid_node("QueryType", type);
  request.expression = root.child_value("Expression");
  if (request.expression.empty()) return missing_node("Expression");
  if (const auto node = root.child("InputSerialization")) {
    auto input = parse_format<sql::InputFormat>(node);
    if (!input) return input.error();
    request.input = std::move(*input);
  }
  if (const auto node = root.child("OutputSerialization")) {
    auto output = parse_format<sql::OutputFormat>(node);
    if (!output) return output.error();
    request.output = std::move(*output);
  } else {
    // The rows of JSON have names, which this default shows.
    request.output =
        sql::DelimitedFormat{.headers = std::holds_alternative<sql::JsonFormat>(request.input)};
  }
  return request;
}

}  // namespace kyanite::blob
