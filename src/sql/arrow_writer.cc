#include "sql/arrow_writer.h"

#include <bit>
#include <charconv>
#include <utility>

#include "base/bytes.h"
#include "sql/flat_buffer.h"

namespace kyanite::sql {

namespace {

using Wide = __int128;

constexpr int16_t kMetadataVersion = 4;  // Called V5.
enum : uint8_t { kSchemaHeader = 1, kBatchHeader = 3 };
enum : uint8_t {
  kIntType = 2,
  kRealType = 3,
  kTextType = 5,
  kBoolType = 6,
  kDecimalType = 7,
  kTimestampType = 10
};

void append_le64(std::string& out, uint64_t value) {
  append_le32(out, static_cast<uint32_t>(value));
  append_le32(out, static_cast<uint32_t>(value >> 32));
}

void pad(std::string& out, size_t to) {
  while (out.size() % to != 0) out += '\0';
}

std::string message(uint8_t header_type, FlatBuffer& flat, FlatBuffer::At header,
                    const std::string& body) {
  flat.begin_table();
  if (!body.empty()) flat.field(3, static_cast<int64_t>(body.size()));
  flat.reference(2, header);
  flat.field(0, kMetadataVersion);
  flat.field(1, header_type);
  std::string metadata = flat.finish(flat.end_table());
  pad(metadata, 8);
  std::string out;
  append_le32(out, 0xffffffff);
  append_le32(out, static_cast<uint32_t>(metadata.size()));
  return out.append(metadata).append(body);
}

uint8_t type_id(ArrowType type) {
  switch (type) {
    case ArrowType::kInt64:
      return kIntType;
    case ArrowType::kBool:
      return kBoolType;
    case ArrowType::kTimestampMs:
      return kTimestampType;
    case ArrowType::kString:
      return kTextType;
    case ArrowType::kDouble:
      return kRealType;
    case ArrowType::kDecimal:
      return kDecimalType;
  }
  return kTextType;
}

FlatBuffer::At type_table(FlatBuffer& flat, const ArrowField& field) {
  flat.begin_table();
  switch (field.type) {
    case ArrowType::kInt64:
      flat.field(0, int32_t{64});
      flat.field(1, uint8_t{1});  // signed
      break;
    case ArrowType::kTimestampMs:
      flat.field(0, int16_t{1});  // milliseconds
      break;
    case ArrowType::kDouble:
      flat.field(0, int16_t{2});  // double precision
      break;
    case ArrowType::kDecimal:
      flat.field(1, int32_t{field.scale});
      flat.field(0, int32_t{field.precision});
      break;
    default:
      break;
  }
  return flat.end_table();
}

FlatBuffer::At field_table(FlatBuffer& flat, const ArrowField& field) {
  const auto type = type_table(flat, field);
  const auto name = flat.string(field.name);
  const auto children = flat.vector({});
  flat.begin_table();
  flat.reference(5, children);
  flat.reference(3, type);
  flat.reference(0, name);
  flat.field(2, type_id(field.type));
  flat.field(1, uint8_t{1});  // may be null
  return flat.end_table();
}

Wide power_of_ten(int exponent) {
  Wide power = 1;
  for (; exponent > 0; --exponent) power *= 10;
  return power;
}

struct Digits {
  Wide value = 0;
  int scale = 0;  // How many of them are behind the point.
};

std::optional<Digits> parse_decimal(std::string_view text) {
  text = trim(text);
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  Digits out;
  int digits = 0;
  bool point = false;
  bool any = false;
  for (const char c : text) {
    if (c == '.' && !point) {
      point = true;
      continue;
    }
    if (c < '0' || c > '9') return {};
    any = true;
    if (point) ++out.scale;
    if (out.value != 0 || c != '0') ++digits;
    if (digits > kMaxDecimalPrecision || out.scale > kMaxDecimalPrecision) return {};
    out.value = out.value * 10 + (c - '0');
  }
  if (!any) return {};
  if (negative) out.value = -out.value;
  return out;
}

bool fits(Wide value, int precision) {
  const Wide limit = power_of_ten(precision);
  return value < limit && value > -limit;
}

// With the scale that was declared, rounded. A number that is too large for its column comes with
// the digits it has, as the service sends it: 400 as 4.00 where four digits are all there is.
std::optional<Wide> to_decimal(std::string_view text, const ArrowField& field) {
  const auto digits = parse_decimal(text);
  if (!digits) return {};
  Wide value = digits->value;
  if (digits->scale > field.scale) {
    const Wide unit = power_of_ten(digits->scale - field.scale);
    const Wide half = value < 0 ? -(unit / 2) : unit / 2;
    value = (value + half) / unit;
    return fits(value, field.precision) ? std::optional(value) : std::nullopt;
  }
  const int missing = field.scale - digits->scale;
  const Wide factor = power_of_ten(missing);
  if (fits(value, kMaxDecimalPrecision - missing) && fits(value * factor, field.precision))
    return value * factor;
  return fits(value, field.precision) ? std::optional(value) : std::nullopt;
}

std::string decimal_text(const Value& value) {
  if (value.kind != Value::Kind::kFloat) return to_text(value);
  char digits[400];
  const auto end =
      std::to_chars(digits, digits + sizeof digits, value.real, std::chars_format::fixed);
  return end.ec == std::errc() ? std::string(digits, end.ptr) : "";
}

}  // namespace

std::optional<ArrowType> parse_arrow_type(std::string_view text) {
  static constexpr struct {
    std::string_view name;
    ArrowType type;
  } kTypes[] = {{"int64", ArrowType::kInt64},
                {"bool", ArrowType::kBool},
                {"timestamp[ms]", ArrowType::kTimestampMs},
                {"string", ArrowType::kString},
                {"double", ArrowType::kDouble},
                {"decimal", ArrowType::kDecimal}};
  for (const auto& candidate : kTypes) {
    if (candidate.name == text) return candidate.type;
  }
  return {};
}

ArrowWriter::ArrowWriter(ArrowFormat format) : format_(std::move(format)) { reset(); }

void ArrowWriter::reset() {
  rows_ = 0;
  bytes_ = 0;
  columns_.assign(format_.schema.size(), {});
  for (auto& column : columns_) append_le32(column.ends, 0);
}

std::string ArrowWriter::begin(const std::vector<std::string>*) {
  FlatBuffer flat;
  std::vector<FlatBuffer::At> fields;
  for (const auto& field : format_.schema) fields.push_back(field_table(flat, field));
  const auto list = flat.vector(fields);
  flat.begin_table();
  flat.reference(1, list);
  const auto schema = flat.end_table();
  return message(kSchemaHeader, flat, schema, "") + batch();
}

Evaluated<std::string> ArrowWriter::convert(const Value& value, const ArrowField& field) {
  std::string out;
  Scratch scratch;
  switch (field.type) {
    case ArrowType::kInt64: {
      const auto integer = cast(value, Type::kInt, scratch);
      if (!integer) return integer.error();
      append_le64(out, static_cast<uint64_t>(integer->integer));
      return out;
    }
    case ArrowType::kBool: {
      const auto truth = to_boolean(value);
      if (!truth) return truth.error();
      return std::string(1, *truth ? '\1' : '\0');
    }
    case ArrowType::kTimestampMs: {
      const auto at = cast(value, Type::kTimestamp, scratch);
      if (!at) return at.error();
      const int64_t ticks = at->integer - kUnixEpochTicks;
      constexpr int64_t kTicksPerMs = kTicksPerSecond / 1000;
      const int64_t ms = ticks / kTicksPerMs - (ticks % kTicksPerMs < 0 ? 1 : 0);
      append_le64(out, static_cast<uint64_t>(ms));
      return out;
    }
    case ArrowType::kString:
      return to_text(value);
    case ArrowType::kDouble: {
      const auto real = cast(value, Type::kFloat, scratch);
      if (!real) return real.error();
      append_le64(out, std::bit_cast<uint64_t>(real->real));
      return out;
    }
    case ArrowType::kDecimal: {
      const auto decimal = to_decimal(decimal_text(value), field);
      if (!decimal) return invalid_conversion();
      append_le64(out, static_cast<uint64_t>(*decimal));
      append_le64(out, static_cast<uint64_t>(*decimal >> 64));
      return out;
    }
  }
  return invalid_conversion();
}

std::optional<RowError> ArrowWriter::add(std::span<const Named> row) {
  if (row.size() != format_.schema.size()) {
    return RowError{"ClientError", "Number of columns in the row does not match the schema.", true};
  }
  std::vector<std::string> bytes;
  size_t length = 0;
  for (size_t i = 0; i < row.size(); ++i) {
    auto& converted = bytes.emplace_back();
    if (row[i].value.absent()) continue;
    auto result = convert(row[i].value, format_.schema[i]);
    if (!result) return result.error();
    length += result->size();
    if (length > kMaxRowBytes)
      return RowError{"RecordTooLarge", "A row of the result is longer than a query can return.",
                      true};
    converted = std::move(*result);
  }
  for (size_t i = 0; i < row.size(); ++i)
    append(columns_[i], format_.schema[i], bytes[i], row[i].value.absent());
  ++rows_;
  return {};
}

void ArrowWriter::append(Column& column, const ArrowField& field, const std::string& bytes,
                         bool null) {
  const auto set_bit = [&](std::string& bits, bool set) {
    if (rows_ % 8 == 0) bits += '\0';
    if (set) bits.back() = static_cast<char>(bits.back() | 1 << rows_ % 8);
  };
  set_bit(column.valid, !null);
  if (null) ++column.nulls;
  bytes_ += bytes.size() + 1;
  if (field.type == ArrowType::kBool) {
    set_bit(column.data, !null && bytes.front() != '\0');
    return;
  }
  column.data += bytes;
  if (field.type == ArrowType::kString) {
    append_le32(column.ends, static_cast<uint32_t>(column.data.size()));
    bytes_ += 4;
  } else if (null) {
    column.data.append(field.type == ArrowType::kDecimal ? 16 : 8, '\0');
    bytes_ += 16;
  }
}

std::string ArrowWriter::batch() const {
  std::string body;
  std::vector<FlatBuffer::Pair> nodes;
  std::vector<FlatBuffer::Pair> buffers;
  const auto add_buffer = [&](const std::string& bytes) {
    buffers.push_back({static_cast<int64_t>(body.size()), static_cast<int64_t>(bytes.size())});
    body += bytes;
    pad(body, 8);
  };
  for (size_t i = 0; i < columns_.size(); ++i) {
    const auto& column = columns_[i];
    nodes.push_back({static_cast<int64_t>(rows_), column.nulls});
    add_buffer(column.nulls > 0 ? column.valid : "");
    if (format_.schema[i].type == ArrowType::kString) add_buffer(rows_ > 0 ? column.ends : "");
    add_buffer(column.data);
  }
  FlatBuffer flat;
  const auto node_list = flat.structs(nodes);
  const auto buffer_list = flat.structs(buffers);
  flat.begin_table();
  if (rows_ > 0) flat.field(0, static_cast<int64_t>(rows_));
  flat.reference(2, buffer_list);
  flat.reference(1, node_list);
  const auto header = flat.end_table();
  return message(kBatchHeader, flat, header, body);
}

std::string ArrowWriter::take() {
  if (rows_ == 0) return "";
  std::string out = batch();
  reset();
  return out;
}

}  // namespace kyanite::sql
