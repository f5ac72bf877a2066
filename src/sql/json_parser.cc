#include "sql/json_parser.h"

#include "base/bytes.h"
#include "base/hex.h"
#include "sql/limits.h"

namespace kyanite::sql {

namespace {

void append_utf8(std::string& out, uint32_t point) {
  const auto put = [&](uint32_t byte) { out += static_cast<char>(byte); };
  if (point < 0x80) {
    put(point);
  } else if (point < 0x800) {
    put(0xc0 | point >> 6);
    put(0x80 | (point & 0x3f));
  } else if (point < 0x10000) {
    put(0xe0 | point >> 12);
    put(0x80 | (point >> 6 & 0x3f));
    put(0x80 | (point & 0x3f));
  } else {
    put(0xf0 | point >> 18);
    put(0x80 | (point >> 12 & 0x3f));
    put(0x80 | (point >> 6 & 0x3f));
    put(0x80 | (point & 0x3f));
  }
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

RowError unexpected_token(std::string_view bytes, size_t at, uint64_t offset,
                          std::initializer_list<std::string_view> expected) {
  std::string text = "Unexpected end of the data at [byte: ";
  if (at < bytes.size()) {
    text = "Unexpected token '";
    // A byte of a longer character is no text by itself.
    const char c = bytes[at];
    text += c >= ' ' && c <= '~' ? std::string(1, c) : "\\x" + hex(bytes.substr(at, 1));
    text += "' at [byte: ";
  }
  append_uint(text, offset + at);
  text += expected.size() == 1 ? "]. Expecting token " : "]. Expecting tokens ";
  size_t count = 0;
  for (const auto token : expected) {
    if (count > 0) text += count + 1 == expected.size() ? ", or " : ", ";
    text.append("'").append(token).append("'");
    ++count;
  }
  return {"ParseError", text + ". ", true};
}

JsonParser::Parsed JsonParser::fail(std::initializer_list<std::string_view> expected) {
  error_ = unexpected_token(bytes_, at_, offset_, expected);
  return Parsed::kError;
}

JsonParser::Parsed JsonParser::fail(std::string_view name, std::string_view description) {
  error_ = {std::string(name), std::string(description), true};
  return Parsed::kError;
}

// The bytes end within the value.
JsonParser::Parsed JsonParser::cut_short() {
  return last_ ? fail("ParseError", "The data ends within a JSON value.") : Parsed::kMore;
}

JsonParser::Parsed JsonParser::skip_blanks() {
  while (at_ < bytes_.size()) {
    const char c = bytes_[at_];
    if (c != ' ' && c != '\t' && c != '\r' && c != '\n') return Parsed::kValue;
    ++at_;
  }
  return cut_short();
}

JsonParser::Parsed JsonParser::value(std::string_view key, size_t depth) {
  if (auto found = skip_blanks(); found != Parsed::kValue) return found;
  if (depth > kMaxJsonDepth) return fail("ParseError", "The JSON is nested too deeply.");
  if (values_.size() >= kMaxJsonValues)
    return fail("RecordTooLarge", "A record has more JSON values than a query can hold.");
  const size_t index = values_.size();
  auto& out = values_.emplace_back();
  out.key = key;
  Parsed parsed = Parsed::kValue;
  switch (bytes_[at_]) {
    case '{':
      out.kind = JsonValue::Kind::kObject;
      parsed = object(depth);
      break;
    case '[':
      out.kind = JsonValue::Kind::kArray;
      parsed = array(depth);
      break;
    case '"':
      out.kind = JsonValue::Kind::kString;
      parsed = string(out.text);
      break;
    case 't':
      out.kind = JsonValue::Kind::kBoolean;
      out.boolean = true;
      parsed = word("true");
      break;
    case 'f':
      out.kind = JsonValue::Kind::kBoolean;
      parsed = word("false");
      break;
    case 'n':
      parsed = word("null");
      break;
    default:
      out.kind = JsonValue::Kind::kNumber;
      parsed = number(out);
  }
  // The values may have moved.
  values_[index].span = static_cast<uint32_t>(values_.size() - index);
  return parsed;
}

JsonParser::Parsed JsonParser::member(size_t depth) {
  if (auto found = skip_blanks(); found != Parsed::kValue) return found;
  if (bytes_[at_] != '"') return fail({"\""});
  std::string_view key;
  if (auto found = string(key); found != Parsed::kValue) return found;
  if (auto found = skip_blanks(); found != Parsed::kValue) return found;
  if (bytes_[at_] != ':') return fail({":"});
  ++at_;
  return value(key, depth + 1);
}

JsonParser::Parsed JsonParser::object(size_t depth) {
  ++at_;
  if (auto found = skip_blanks(); found != Parsed::kValue) return found;
  if (bytes_[at_] == '}') {
    ++at_;
    return Parsed::kValue;
  }
  while (true) {
    if (auto found = member(depth); found != Parsed::kValue) return found;
    if (auto found = skip_blanks(); found != Parsed::kValue) return found;
    const char c = bytes_[at_];
    if (c != ',' && c != '}') return fail({",", "}"});
    ++at_;
    if (c == '}') return Parsed::kValue;
  }
}

JsonParser::Parsed JsonParser::array(size_t depth) {
  ++at_;
  if (auto found = skip_blanks(); found != Parsed::kValue) return found;
  if (bytes_[at_] == ']') {
    ++at_;
    return Parsed::kValue;
  }
  while (true) {
    if (auto found = value({}, depth + 1); found != Parsed::kValue) return found;
    if (auto found = skip_blanks(); found != Parsed::kValue) return found;
    const char c = bytes_[at_];
    if (c != ',' && c != ']') return fail({",", "]"});
    ++at_;
    if (c == ']') return Parsed::kValue;
  }
}

JsonParser::Parsed JsonParser::string(std::string_view& text) {
  const size_t start = ++at_;
  while (at_ < bytes_.size() && bytes_[at_] != '"' && bytes_[at_] != '\\') ++at_;
  if (at_ == bytes_.size()) return cut_short();
  if (bytes_[at_] == '"') {
    text = bytes_.substr(start, at_++ - start);
    return Parsed::kValue;
  }
  std::string plain(bytes_.substr(start, at_ - start));
  while (at_ < bytes_.size() && bytes_[at_] != '"') {
    if (bytes_[at_] == '\\') {
      if (auto found = escape(plain); found != Parsed::kValue) return found;
    } else {
      plain += bytes_[at_++];
    }
  }
  if (at_ == bytes_.size()) return cut_short();
  ++at_;
  text = texts_.emplace_back(std::move(plain));
  return Parsed::kValue;
}

JsonParser::Parsed JsonParser::escape(std::string& text) {
  ++at_;
  if (at_ == bytes_.size()) return cut_short();
  constexpr std::string_view kLetters = "\"\\/bfnrt";
  constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
  const char c = bytes_[at_];
  if (c == 'u') {
    ++at_;
    return unicode(text);
  }
  const size_t index = kLetters.find(c);
  if (index == std::string_view::npos) return fail({"\"", "\\", "/", "b", "f", "n", "r", "t", "u"});
  text += kMeanings[index];
  ++at_;
  return Parsed::kValue;
}

bool JsonParser::take_hex(uint32_t& unit) {
  unit = 0;
  for (int i = 0; i < 4; ++i, ++at_) {
    const int digit = hex_digit(bytes_[at_]);
    if (digit < 0) return false;
    unit = unit * 16 + static_cast<uint32_t>(digit);
  }
  return true;
}

// Behind "\u".
JsonParser::Parsed JsonParser::unicode(std::string& text) {
  constexpr uint32_t kReplacement = 0xfffd;
  uint32_t unit = 0;
  if (bytes_.size() - at_ < 4) return cut_short();
  if (!take_hex(unit)) return fail({"0-9", "a-f"});
  if (unit < 0xd800 || unit > 0xdfff) {
    append_utf8(text, unit);
    return Parsed::kValue;
  }
  if (bytes_.size() - at_ < 6 && !last_) return Parsed::kMore;
  // Halves without their other one stand for no character.
  if (unit < 0xdc00 && bytes_.size() - at_ >= 6 && bytes_.substr(at_, 2) == "\\u") {
    const size_t before = at_;
    uint32_t low = 0;
    at_ += 2;
    if (take_hex(low) && low >= 0xdc00 && low <= 0xdfff) {
      append_utf8(text, 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00));
      return Parsed::kValue;
    }
    at_ = before;
  }
  append_utf8(text, kReplacement);
  return Parsed::kValue;
}

JsonParser::Parsed JsonParser::number(JsonValue& value) {
  const size_t start = at_;
  const auto digits = [&] {
    const size_t before = at_;
    while (at_ < bytes_.size() && is_digit(bytes_[at_])) ++at_;
    return at_ > before;
  };
  const auto is_at = [&](char c) { return at_ < bytes_.size() && bytes_[at_] == c; };
  const auto missing = [&] { return at_ == bytes_.size() ? cut_short() : fail({"0-9"}); };
  if (is_at('-')) {
    ++at_;
  } else if (!is_digit(bytes_[at_])) {
    return fail({"{", "[", "\"", "-", "0-9", "true", "false", "null"});
  }
  const bool zero = is_at('0');
  const size_t first = at_;
  if (!digits()) return missing();
  if (zero && at_ > first + 1) {
    at_ = first + 1;
    return fail({".", ",", "}", "]"});
  }
  if (is_at('.')) {
    ++at_;
    if (!digits()) return missing();
  }
  if (is_at('e') || is_at('E')) {
    ++at_;
    if (is_at('+') || is_at('-')) ++at_;
    if (!digits()) return missing();
  }
  // Further digits may follow in bytes that are not here yet.
  if (at_ == bytes_.size() && !last_) return Parsed::kMore;
  value.text = bytes_.substr(start, at_ - start);
  return Parsed::kValue;
}

JsonParser::Parsed JsonParser::word(std::string_view word) {
  for (const char c : word) {
    if (at_ == bytes_.size()) return cut_short();
    if (bytes_[at_] != c) return fail({std::string_view(&c, 1)});
    ++at_;
  }
  return Parsed::kValue;
}

}  // namespace kyanite::sql
