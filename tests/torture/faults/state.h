// What the hooks share: which files are the server's data, and what the person at the controls
// wants.
#pragma once

#include <sys/stat.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

namespace kyanite::faults {

// A file in memory that the tool and the server share (tests/py/fault_library.py knows the
// same order). The tool sets the first half; the server counts in the second.
struct Control {
  std::atomic<uint64_t> lie;             // Syncs say they are done and do nothing.
  std::atomic<uint64_t> full;            // How full the disk is, see Fullness.
  std::atomic<uint64_t> read_error_ppm;  // How many reads of a million fail,
  std::atomic<uint64_t> flip_ppm;        // or deliver one wrong bit,
  std::atomic<uint64_t> read_kinds;      // of which kinds of file: bits of Kind.
  std::atomic<int64_t> clock_offset_ns;  // How far the clock of the day is off,
  std::atomic<int64_t> clock_pace;       // and how many seconds it makes in one (0: one)
  std::atomic<int64_t> clock_since_ns;   // since this instant.
  std::atomic<uint64_t> seed;
  std::atomic<uint64_t> spoil_sent;  // What the kernel sends by itself has a wrong bit.
  std::atomic<int64_t> room;         // How many bytes a disk with kLimited has left.

  std::atomic<uint64_t> writes;
  std::atomic<uint64_t> syncs;
  std::atomic<uint64_t> refused_writes;
  std::atomic<uint64_t> read_errors;
  std::atomic<uint64_t> flips;
  std::atomic<uint64_t> clock_readings;
  std::atomic<uint64_t> unseen;
};

enum Fullness : uint64_t {
  kRoom = 0,
  kNoGrowth = 1,  // What is allocated can be overwritten.
  kNoWrites = 2,  // As where every write goes to a new place.
  kNoSyncs = 3,   // Writes are taken and the sync finds out.
  kLimited = 4,   // There are so many bytes, and what is deleted comes back to them.
};

enum Kind : uint64_t { kExtent = 1, kTable = 2, kLog = 4, kOther = 8 };

struct State {
  std::string data;   // The server's data directory (empty: only its clock is our business),
  std::string place;  // and ours: control, journal, keep/.
  Control* control = nullptr;
  int journal = -1;  // Closed: none is kept.
  bool plant_unseen = false;
};

// Null before the library is set up, and when it was loaded without being asked for anything.
State* state();

// Whether a file of this name holds data; the lock files do not.
bool is_data(std::string_view path);
Kind kind_of(std::string_view path);

// Open files. A descriptor may be closed and used again behind our back, hence the inode.
void note_open(int descriptor, std::string_view path);
void note_close(int descriptor);
// Whether the descriptor is an open file or directory of the server's data. Fills `found` then.
bool is_data(int descriptor, struct stat& found);
Kind kind_of(int descriptor);

uint64_t random_number();
inline void count(std::atomic<uint64_t>& counter) {
  counter.fetch_add(1, std::memory_order_relaxed);
}

// Lets no system call that changes the server's data pass by the hooks: one that tries ends the
// process.
void forbid_unseen_writes();

}  // namespace kyanite::faults
