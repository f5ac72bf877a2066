// The file system RocksDB works on: the operating system's, with the project's fault hook in front
// and a write-ahead log that syncs faster.
//
// A sync of a growing or merely reserved file has to write file system metadata too. The log
// therefore writes zeros ahead of itself, in steps, so that most syncs write nothing but data.
// RocksDB's reader takes zeros for the end of a log. A log that is damaged cannot be opened, and
// the ledger knows how far each is synced (engine/log_ledger.h).
#pragma once

#include <memory>

namespace rocksdb {
class FileSystem;
}

namespace kyanite::engine {

class LogLedger;

// The ledger outlives it.
std::shared_ptr<rocksdb::FileSystem> make_record_files(LogLedger& ledger);

}  // namespace kyanite::engine
