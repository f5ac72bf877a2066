// The proof that the hooks see everything: the kernel hands every system call that can change a
// file, and that the hooks did not make themselves, to a signal handler. libc's own streams (a log,
// standard error) are let through; a change of the server's data ends the process with a message.
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <cstdio>
#include <iterator>
#include <vector>

#include "raw.h"
#include "state.h"

namespace kyanite::faults {

namespace {

// What names the file that a call changes.
enum class Names {
  kFirstPath,
  kSecondPath,
  kDescriptor,
  kThirdDescriptor,
  kFifthDescriptor,
  kNone
};

struct Changing {
  long number;
  Names names;
};
constexpr Changing kChanging[] = {
    {SYS_write, Names::kDescriptor},       {SYS_pwrite64, Names::kDescriptor},
    {SYS_writev, Names::kDescriptor},      {SYS_pwritev, Names::kDescriptor},
    {SYS_pwritev2, Names::kDescriptor},    {SYS_sendfile, Names::kDescriptor},
    {SYS_splice, Names::kThirdDescriptor}, {SYS_copy_file_range, Names::kThirdDescriptor},
    {SYS_fallocate, Names::kDescriptor},   {SYS_ftruncate, Names::kDescriptor},
    {SYS_fsync, Names::kDescriptor},       {SYS_fdatasync, Names::kDescriptor},
    {SYS_truncate, Names::kFirstPath},     {SYS_creat, Names::kFirstPath},
    {SYS_open, Names::kFirstPath},         {SYS_openat, Names::kSecondPath},
    {SYS_rename, Names::kFirstPath},       {SYS_renameat, Names::kSecondPath},
    {SYS_renameat2, Names::kSecondPath},   {SYS_unlink, Names::kFirstPath},
    {SYS_unlinkat, Names::kSecondPath},    {SYS_link, Names::kFirstPath},
    {SYS_linkat, Names::kSecondPath},      {SYS_mmap, Names::kFifthDescriptor},
    {SYS_io_uring_setup, Names::kNone},
};

bool is_data_descriptor(long descriptor) {
  char link[32];
  char path[4096];
  std::snprintf(link, sizeof link, "/proc/self/fd/%ld", descriptor);
  const long length = raw(SYS_readlink, link, path, sizeof path);
  return length > 0 && is_data(std::string_view(path, static_cast<size_t>(length)));
}

bool is_data_path(long path) {
  return is_data(std::string_view(reinterpret_cast<const char*>(path)));
}

bool changes_data(Names names, const long (&arguments)[6]) {
  switch (names) {
    case Names::kFirstPath:
      return is_data_path(arguments[0]);
    case Names::kSecondPath:
      return is_data_path(arguments[1]);
    case Names::kDescriptor:
      return is_data_descriptor(arguments[0]);
    case Names::kThirdDescriptor:
      return is_data_descriptor(arguments[2]);
    case Names::kFifthDescriptor:
      return arguments[4] >= 0 && is_data_descriptor(arguments[4]);
    case Names::kNone:
      return true;
  }
  return true;
}

void on_unhooked_call(int, siginfo_t* info, void* where) {
  auto& registers = static_cast<ucontext_t*>(where)->uc_mcontext.gregs;
  const long arguments[6] = {registers[REG_RDI], registers[REG_RSI], registers[REG_RDX],
                             registers[REG_R10], registers[REG_R8],  registers[REG_R9]};
  const long number = info->si_syscall;
  Names names = Names::kNone;
  for (const auto& each : kChanging) {
    if (each.number == number) names = each.names;
  }
  if (changes_data(names, arguments)) {
    char text[128];
    const int length = std::snprintf(
        text, sizeof text,
        "the server changed its data by system call %ld, which the fault library does not see\n",
        number);
    count(state()->control->unseen);
    raw(SYS_write, 2, text, length);
    raw(SYS_exit_group, 97);
  }
  registers[REG_RAX] = raw(number, arguments[0], arguments[1], arguments[2], arguments[3],
                           arguments[4], arguments[5]);
}

// The filter as instructions: calls of the stub in raw.cc pass, those above are trapped, some of
// them only with certain flags.
class Filter {
 public:
  Filter() {
    load(offsetof(seccomp_data, instruction_pointer) + 4);
    const auto begin = reinterpret_cast<uint64_t>(kyanite_faults_raw_begin);
    const auto end = reinterpret_cast<uint64_t>(kyanite_faults_raw_end);
    jump(BPF_JEQ, static_cast<uint32_t>(begin >> 32), 0, 4);
    load(offsetof(seccomp_data, instruction_pointer));
    jump(BPF_JGE, static_cast<uint32_t>(begin), 0, 2);
    jump(BPF_JGT, static_cast<uint32_t>(end), 1, 0);
    give(SECCOMP_RET_ALLOW);
    for (const auto& each : kChanging) {
      load(offsetof(seccomp_data, nr));
      switch (each.number) {
        case SYS_open:
          trap_with_flags(each.number, 1, O_WRONLY | O_RDWR | O_CREAT | O_TRUNC);
          break;
        case SYS_openat:
          trap_with_flags(each.number, 2, O_WRONLY | O_RDWR | O_CREAT | O_TRUNC);
          break;
        case SYS_mmap:
          trap_shared_mapping();
          break;
        default:
          jump(BPF_JEQ, static_cast<uint32_t>(each.number), 0, 1);
          give(SECCOMP_RET_TRAP);
      }
    }
    give(SECCOMP_RET_ALLOW);
  }

  long install() {
    sock_fprog program{static_cast<unsigned short>(code_.size()), code_.data()};
    if (const long result = raw(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); result != 0)
      return result;
    // All threads, should another library have begun some already.
    return raw(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
  }

 private:
  static uint32_t argument(size_t index) {
    return static_cast<uint32_t>(offsetof(seccomp_data, args) + 8 * index);
  }
  void load(size_t offset) {
    code_.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<uint32_t>(offset)));
  }
  void jump(unsigned kind, uint32_t value, uint8_t yes, uint8_t no) {
    code_.push_back({static_cast<uint16_t>(BPF_JMP | kind | BPF_K), yes, no, value});
  }
  void give(uint32_t verdict) { code_.push_back(BPF_STMT(BPF_RET | BPF_K, verdict)); }
  void trap_with_flags(long number, size_t index, uint32_t flags) {
    jump(BPF_JEQ, static_cast<uint32_t>(number), 0, 3);
    load(argument(index));
    jump(BPF_JSET, flags, 0, 1);
    give(SECCOMP_RET_TRAP);
  }
  void trap_shared_mapping() {
    jump(BPF_JEQ, SYS_mmap, 0, 5);
    load(argument(2));
    jump(BPF_JSET, PROT_WRITE, 0, 3);
    load(argument(3));
    jump(BPF_JSET, MAP_SHARED, 0, 1);
    give(SECCOMP_RET_TRAP);
  }

  std::vector<sock_filter> code_;
};

}  // namespace

void forbid_unseen_writes() {
  struct sigaction action {};
  action.sa_sigaction = on_unhooked_call;
  action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_RESTART;
  sigaction(SIGSYS, &action, nullptr);
  if (Filter().install() == 0) return;
  constexpr std::string_view kWhy = "the fault library cannot watch the server's system calls\n";
  raw(SYS_write, 2, kWhy.data(), kWhy.size());
  raw(SYS_exit_group, 98);
}

}  // namespace kyanite::faults
