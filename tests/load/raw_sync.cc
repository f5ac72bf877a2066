// The disk's own floor: 4 KiB written and synced, again and again, into a preallocated file.
//
//   raw_sync FILE SECONDS
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <vector>

#include "measure.h"

namespace kyanite::load {
namespace {

constexpr size_t kBlock = 4096;
constexpr off_t kFileBytes = 64 << 20;

// Zeros are written and synced beforehand, so that the measured writes change no metadata.
bool preallocate(int fd) {
  const std::vector<char> zeros(1 << 20);
  for (off_t at = 0; at < kFileBytes; at += static_cast<off_t>(zeros.size())) {
    if (pwrite(fd, zeros.data(), zeros.size(), at) != static_cast<ssize_t>(zeros.size()))
      return false;
  }
  return fsync(fd) == 0;
}

int run(const char* path, double seconds) {
  const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0 || !preallocate(fd)) {
    std::perror(path);
    return EXIT_FAILURE;
  }
  void* block = std::aligned_alloc(kBlock, kBlock);
  std::fill_n(static_cast<char*>(block), kBlock, 'x');
  Histogram latencies;
  const auto began = Clock::now();
  off_t at = 0;
  while (static_cast<double>(nanoseconds_since(began)) < seconds * 1e9) {
    const auto begin = Clock::now();
    if (pwrite(fd, block, kBlock, at) != static_cast<ssize_t>(kBlock) || fdatasync(fd) != 0) {
      std::perror(path);
      return EXIT_FAILURE;
    }
    latencies.add(nanoseconds_since(begin));
    at = (at + static_cast<off_t>(kBlock)) % kFileBytes;
  }
  print_result(latencies, static_cast<double>(nanoseconds_since(began)) / 1e9, 0, "");
  std::free(block);
  close(fd);
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace kyanite::load

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: raw_sync FILE SECONDS\n", stderr);
    return EXIT_FAILURE;
  }
  return kyanite::load::run(argv[1], std::atof(argv[2]));
}
