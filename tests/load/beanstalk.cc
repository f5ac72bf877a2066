// beanstalkd under load: so many connections, a thread each, that put jobs, or take and delete
// them.
//
//   beanstalk PORT CONNECTIONS SECONDS put BYTES
//   beanstalk PORT CONNECTIONS SECONDS take
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "measure.h"

namespace kyanite::load {
namespace {

class Client {
 public:
  explicit Client(uint16_t port) : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int one = 1;
    setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
      std::perror("connect");
      std::exit(EXIT_FAILURE);
    }
  }
  ~Client() { close(fd_); }
  Client(const Client&) = delete;

  bool put(const std::string& command) { return ask(command).starts_with("INSERTED"); }

  bool take() {
    const std::string reply = ask("reserve-with-timeout 0\r\n");
    if (!reply.starts_with("RESERVED ")) return false;
    const size_t space = reply.find(' ', 9);
    const std::string id = reply.substr(9, space - 9);
    size_t left = std::strtoul(reply.c_str() + space, nullptr, 10) + 2;
    while (left > buffered_.size()) {
      if (!receive()) return false;
    }
    buffered_.erase(0, left);
    return ask("delete " + id + "\r\n").starts_with("DELETED");
  }

 private:
  std::string ask(const std::string& command) {
    if (send(fd_, command.data(), command.size(), MSG_NOSIGNAL) !=
        static_cast<ssize_t>(command.size())) {
      return {};
    }
    size_t end;
    while ((end = buffered_.find("\r\n")) == std::string::npos) {
      if (!receive()) return {};
    }
    const std::string line = buffered_.substr(0, end);
    buffered_.erase(0, end + 2);
    return line;
  }

  bool receive() {
    char bytes[4096];
    const ssize_t got = recv(fd_, bytes, sizeof bytes, 0);
    if (got > 0) buffered_.append(bytes, static_cast<size_t>(got));
    return got > 0;
  }

  const int fd_;
  std::string buffered_;
};

struct Worker {
  Histogram latencies;
  uint64_t errors = 0;
};

int run(uint16_t port, size_t connections, double seconds, const std::string& command) {
  std::vector<Worker> workers(connections);
  std::vector<std::thread> running;
  const auto began = Clock::now();
  const auto until = began + std::chrono::microseconds(static_cast<int64_t>(seconds * 1e6));
  for (auto& worker : workers) {
    running.emplace_back([&worker, &command, port, until] {
      Client client(port);
      while (Clock::now() < until) {
        const auto begin = Clock::now();
        if (!(command.empty() ? client.take() : client.put(command))) {
          worker.errors = command.empty() ? 0 : 1;  // An empty tube ends taking.
          return;
        }
        worker.latencies.add(nanoseconds_since(begin));
      }
    });
  }
  for (auto& thread : running) thread.join();
  Histogram latencies;
  uint64_t errors = 0;
  for (const auto& worker : workers) {
    latencies.add(worker.latencies);
    errors += worker.errors;
  }
  print_result(latencies, static_cast<double>(nanoseconds_since(began)) / 1e9, errors,
               errors > 0 ? "refused" : "");
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace kyanite::load

int main(int argc, char** argv) {
  const bool put = argc == 6 && std::strcmp(argv[4], "put") == 0;
  if (!put && (argc != 5 || std::strcmp(argv[4], "take") != 0)) {
    std::fputs("usage: beanstalk PORT CONNECTIONS SECONDS put BYTES | take\n", stderr);
    return EXIT_FAILURE;
  }
  std::string command;
  if (put) {
    const size_t size = std::strtoul(argv[5], nullptr, 10);
    command = "put 0 0 60 " + std::to_string(size) + "\r\n" + std::string(size, 'x') + "\r\n";
  }
  return kyanite::load::run(static_cast<uint16_t>(std::atoi(argv[1])),
                            std::strtoul(argv[2], nullptr, 10), std::atof(argv[3]), command);
}
