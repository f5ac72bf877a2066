#include "sql/avro.h"

#include <utility>

#include "base/bytes.h"
#include "base/check.h"

namespace kyanite::sql {

namespace {

// The order is the numbers of the records.
enum Kind : int64_t { kData, kError, kProgress, kEnd };
#define KYANITE_RECORD(name, fields)                                                        \
  R"({"type":"record","name":"com.microsoft.azure.storage.queryBlobContents.)" name R"(",)" \
  R"("fields":[)" fields "]}"
#define KYANITE_FIELD(name, type) R"({"name":")" name R"(","type":")" type R"("})"
constexpr std::string_view kSchema =
    "[" KYANITE_RECORD("resultData", KYANITE_FIELD("data", "bytes")) "," KYANITE_RECORD(
        "error", KYANITE_FIELD("fatal", "boolean") "," KYANITE_FIELD("name", "string") ","  //
        KYANITE_FIELD("description", "string") "," KYANITE_FIELD("position", "long")) ","   //
    KYANITE_RECORD("progress", KYANITE_FIELD("bytesScanned", "long") ","                    //
                   KYANITE_FIELD("totalBytes", "long")) ","                                 //
    KYANITE_RECORD("end", KYANITE_FIELD("totalBytes", "long")) "]";
#undef KYANITE_FIELD
#undef KYANITE_RECORD

// Zigzag: the sign is the lowest bit.
void append_long(std::string& out, int64_t value) {
  append_varint(out, static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63));
}
void append_size(std::string& out, uint64_t value) {
  append_long(out, static_cast<int64_t>(value));
}
void append_text(std::string& out, std::string_view text) {
  append_size(out, text.size());
  out += text;
}

std::string begun(Kind kind) {
  std::string out;
  append_long(out, kind);
  return out;
}

}  // namespace

AvroFrames::AvroFrames(std::string sync) : sync_(std::move(sync)) {
  CHECK(sync_.size() == kAvroSyncBytes);
}

void AvroFrames::begin(std::string& out) const {
  out += "Obj\x01";
  append_long(out, 1);  // entries of the map that describes the file
  append_text(out, "avro.schema");
  append_text(out, kSchema);
  append_long(out, 0);  // The map ends.
  out += sync_;
}

void AvroFrames::block(std::string& out, std::string_view head, std::string_view rest) const {
  append_long(out, 1);  // records in it
  append_size(out, head.size() + rest.size());
  out.append(head).append(rest).append(sync_);
}

void AvroFrames::data(std::string& out, std::string_view bytes) const {
  std::string head = begun(kData);
  append_size(head, bytes.size());
  block(out, head, bytes);
}

void AvroFrames::error(std::string& out, const RowError& error, uint64_t position) const {
  std::string record = begun(kError);
  record += error.fatal ? '\1' : '\0';
  append_text(record, error.name);
  append_text(record, error.description);
  append_size(record, position);
  block(out, record);
}

void AvroFrames::progress(std::string& out, uint64_t scanned, uint64_t total) const {
  std::string record = begun(kProgress);
  append_size(record, scanned);
  append_size(record, total);
  block(out, record);
}

void AvroFrames::end(std::string& out, uint64_t total) const {
  std::string record = begun(kEnd);
  append_size(record, total);
  block(out, record);
}

}  // namespace kyanite::sql
