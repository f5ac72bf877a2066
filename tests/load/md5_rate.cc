// What MD5 costs on this machine: 64 MiB hashed on one thread, again and again, with nothing else
// to do.
//
//   md5_rate SECONDS
#include <openssl/evp.h>

#include <cstdlib>
#include <string>

#include "measure.h"

namespace kyanite::load {
namespace {

constexpr size_t kBytes = 64 << 20;

int run(double seconds) {
  std::string bytes(kBytes, '\0');
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 2654435761 >> 24);
  Histogram latencies;
  const auto began = Clock::now();
  while (static_cast<double>(nanoseconds_since(began)) < seconds * 1e9) {
    const auto begin = Clock::now();
    unsigned char digest[EVP_MAX_MD_SIZE];
    if (EVP_Digest(bytes.data(), bytes.size(), digest, nullptr, EVP_md5(), nullptr) != 1)
      return EXIT_FAILURE;
    latencies.add(nanoseconds_since(begin));
  }
  print_result(latencies, static_cast<double>(nanoseconds_since(began)) / 1e9, 0, "");
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace kyanite::load

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: md5_rate SECONDS\n", stderr);
    return EXIT_FAILURE;
  }
  return kyanite::load::run(std::atof(argv[1]));
}
