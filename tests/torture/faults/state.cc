#include "state.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

#include "raw.h"

namespace kyanite::faults {

namespace {

State* g_state = nullptr;

struct Slot {
  std::atomic<uint64_t> inode{0};  // 0: not ours.
  std::atomic<uint64_t> kind{kOther};
};
constexpr size_t kMostDescriptors = 1 << 16;
std::array<Slot, kMostDescriptors> g_slots;

Slot* slot_of(int descriptor) {
  const auto at = static_cast<size_t>(descriptor);
  return descriptor >= 0 && at < kMostDescriptors ? &g_slots[at] : nullptr;
}

void give_up(const char* why) {
  raw(SYS_write, 2, why, std::string_view(why).size());
  raw(SYS_exit_group, 98);
}

Control* map_control(const std::string& path) {
  const long descriptor = raw(SYS_openat, AT_FDCWD, path.c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0) give_up("the fault library finds no control file\n");
  const long mapped =
      raw(SYS_mmap, nullptr, sizeof(Control), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (mapped < 0) give_up("the fault library cannot map its control file\n");
  raw(SYS_close, descriptor);
  return reinterpret_cast<Control*>(mapped);
}

__attribute__((constructor)) void set_up() {
  const char* data = getenv("KYANITE_FAULTS_DATA");
  const char* place = getenv("KYANITE_FAULTS_PLACE");
  if (place == nullptr) return;
  auto* made = new State;  // Never destroyed: threads may still write files at exit.
  if (data != nullptr) made->data = data;
  made->place = place;
  made->control = map_control(made->place + "/control");
  made->plant_unseen = getenv("KYANITE_FAULTS_PLANT_UNSEEN") != nullptr;
  const std::string journal = made->place + "/journal";
  // There is a journal where the tool has made one.
  made->journal =
      static_cast<int>(raw(SYS_openat, AT_FDCWD, journal.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  g_state = made;
  if (data != nullptr) forbid_unseen_writes();
}

std::string_view name_of(std::string_view path) {
  return path.substr(path.rfind('/') + 1);  // The whole path where there is no slash.
}

}  // namespace

State* state() { return g_state; }

bool is_data(std::string_view path) {
  if (g_state == nullptr || g_state->data.empty() || !path.starts_with(g_state->data)) return false;
  const std::string_view below = path.substr(g_state->data.size());
  if (!below.empty() && below.front() != '/') return false;
  const std::string_view name = name_of(path);
  return name != "LOCK" && name != "lock";
}

Kind kind_of(std::string_view path) {
  if (path.ends_with(".ext")) return kExtent;
  if (path.ends_with(".sst")) return kTable;
  return path.ends_with(".log") ? kLog : kOther;
}

void note_open(int descriptor, std::string_view path) {
  Slot* slot = slot_of(descriptor);
  struct stat found {};
  if (slot == nullptr || raw(SYS_fstat, descriptor, &found) != 0) return;
  slot->kind = kind_of(path);
  slot->inode = found.st_ino;
}

void note_close(int descriptor) {
  if (Slot* slot = slot_of(descriptor)) slot->inode = 0;
}

bool is_data(int descriptor, struct stat& found) {
  Slot* slot = slot_of(descriptor);
  if (slot == nullptr || slot->inode == 0 || g_state == nullptr) return false;
  if (raw(SYS_fstat, descriptor, &found) == 0 && found.st_ino == slot->inode) return true;
  slot->inode = 0;
  return false;
}

Kind kind_of(int descriptor) {
  const Slot* slot = slot_of(descriptor);
  return slot != nullptr ? static_cast<Kind>(slot->kind.load()) : kOther;
}

uint64_t random_number() {
  static std::atomic<uint64_t> g_counter{0};
  uint64_t x = g_state->control->seed + 0x9e3779b97f4a7c15 * (1 + g_counter.fetch_add(1));
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

}  // namespace kyanite::faults
