// The frames of a reply: an Avro object container file (avro.apache.org) of four kinds of records,
// each in a block of its own, as the SDKs expect it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sql/value.h"

namespace kyanite::sql {

inline constexpr size_t kAvroSyncBytes = 16;

class AvroFrames {
 public:
  // `sync` marks the ends of blocks: kAvroSyncBytes that are not likely to come elsewhere.
  explicit AvroFrames(std::string sync);

  // Each appends to `out`.
  void begin(std::string& out) const;  // Once, before everything else.
  void data(std::string& out, std::string_view bytes) const;
  void error(std::string& out, const RowError& error, uint64_t position) const;
  void progress(std::string& out, uint64_t scanned, uint64_t total) const;
  void end(std::string& out, uint64_t total) const;

 private:
  void block(std::string& out, std::string_view head, std::string_view rest = {}) const;

  const std::string sync_;
};

}  // namespace kyanite::sql
