// A database of records that nobody changes, read without changing it: also one that is damaged.
// What cannot be read is passed over and told as a gap.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/store.h"

namespace rocksdb {
class DB;
class Iterator;
}  // namespace rocksdb

namespace kyanite::engine {

// Keys of which records may be lost: those after the first and before the second.
struct Gap {
  std::string after;                  // Empty: from the first on.
  std::optional<std::string> before;  // Nothing: to the last.
  std::string why;                    // A clause.
  // Keys that were found in it, if it can be read at all. They may be spoilt themselves.
  std::vector<std::string> keys;
};

class FrozenRecords {
 public:
  enum class Care {
    kWhole,    // What is missing or cut is an error.
    kDamaged,  // As much as can be had.
  };
  // The error is a clause.
  static Result<std::unique_ptr<FrozenRecords>, std::string> open(const std::string& directory,
                                                                  Care care);
  ~FrozenRecords();

  // Null when there is none.
  store::Result<store::RecordPtr> get(const store::Key& key) const;

  // False: no more.
  using See = std::function<bool(std::string_view key, std::string_view bytes)>;
  using SeeGap = std::function<void(const Gap& gap)>;
  // Shows every record with a key in [from, to), stored as engine/codec.h says, and what lies
  // between them that cannot be read. An empty `to` is the end of all.
  void scan(const std::string& from, const std::string& to, const See& see,
            const SeeGap& gap) const;

  struct Table {
    std::string name;
    uint64_t bytes = 0;
    std::string first;  // keys
    std::string last;
  };
  std::vector<Table> tables() const;
  // Reads all of a table from the disk.
  void check_table(const Table& table, const SeeGap& gap) const;

 private:
  FrozenRecords(std::string directory, std::unique_ptr<rocksdb::DB> database);

  const std::string directory_;
  const std::unique_ptr<rocksdb::DB> database_;
};

}  // namespace kyanite::engine
