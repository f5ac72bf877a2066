#include "sql/rows.h"

#include <utility>

#include "sql/arrow_writer.h"
#include "sql/json.h"
#include "wire/json.h"

namespace kyanite::sql {

namespace {

RowError too_large() {
  return {"RecordTooLarge", "A row of the result is longer than a query can return.", true};
}

// Rows as text, one after the other.
class TextWriter : public RowWriter {
 public:
  std::optional<RowError> add(std::span<const Named> row) final {
    const size_t before = out_.size();
    open(out_);
    size_t index = 0;
    for (const auto& field : row) {
      append(out_, field, index++);
      if (out_.size() - before > kMaxRowBytes) {
        out_.resize(before);
        return too_large();
      }
    }
    close(out_);
    return {};
  }
  size_t bytes() const final { return out_.size(); }
  std::string take() final { return std::exchange(out_, {}); }

 private:
  virtual void open(std::string&) {}
  virtual void append(std::string& out, const Named& field, size_t index) = 0;
  virtual void close(std::string& out) = 0;

  std::string out_;
};

class DelimitedWriter final : public TextWriter {
 public:
  explicit DelimitedWriter(DelimitedFormat format) : format_(std::move(format)) {}

  std::string begin(const std::vector<std::string>* names) override {
    std::string line;
    if (!format_.headers || names == nullptr) return line;
    for (size_t i = 0; i < names->size(); ++i) {
      if (i > 0) line += format_.column_separator;
      append_field(line, (*names)[i], format_);
    }
    return line + format_.record_separator;
  }

 private:
  void append(std::string& out, const Named& field, size_t index) override {
    if (index > 0) out += format_.column_separator;
    if (field.value.kind == Value::Kind::kString) {
      append_field(out, field.value.text, format_);
    } else {
      append_field(out, to_text(field.value), format_);
    }
  }
  void close(std::string& out) override { out += format_.record_separator; }

  const DelimitedFormat format_;
};

void append_json_value(std::string& out, const Value& value) {
  switch (value.kind) {
    case Value::Kind::kMissing:
    case Value::Kind::kNull:
      out += "null";
      return;
    case Value::Kind::kString:
    case Value::Kind::kTimestamp:
      out += '"';
      wire::append_json_text(
          out, value.kind == Value::Kind::kString ? value.text : to_text(value.timestamp()));
      out += '"';
      return;
    default:
      append_text(out, value);
  }
}

class JsonWriter final : public TextWriter {
 public:
  explicit JsonWriter(JsonFormat format) : format_(std::move(format)) {}
  std::string begin(const std::vector<std::string>*) override { return ""; }

 private:
  void open(std::string& out) override {
    out += '{';
    empty_ = true;
  }
  // What a record does not have its row does not have either.
  void append(std::string& out, const Named& field, size_t index) override {
    if (field.value.kind == Value::Kind::kMissing) return;
    if (!std::exchange(empty_, false)) out += ',';
    out += '"';
    if (field.name.empty()) {
      out.append("_").append(std::to_string(index + 1));
    } else {
      wire::append_json_text(out, field.name);
    }
    out += "\":";
    append_json_value(out, field.value);
  }
  void close(std::string& out) override { out.append("}").append(format_.record_separator); }

  const JsonFormat format_;
  bool empty_ = true;
};

}  // namespace

std::unique_ptr<RowWriter> make_writer(const OutputFormat& format) {
  if (const auto* delimited = std::get_if<DelimitedFormat>(&format))
    return std::make_unique<DelimitedWriter>(*delimited);
  if (const auto* json = std::get_if<JsonFormat>(&format))
    return std::make_unique<JsonWriter>(*json);
  return std::make_unique<ArrowWriter>(std::get<ArrowFormat>(format));
}

}  // namespace kyanite::sql
