#include "upkeep/pinned.h"

#include <chrono>

namespace kyanite::upkeep {

namespace {

// The server writes what it has in memory to tables first.
constexpr std::chrono::minutes kPatience{5};

std::string unreached(const std::string& path, const std::string& why) {
  return "The server that uses the directory " + path + " cannot be asked (" + why +
         "): run this as the user it runs as, or stop it first.";
}

}  // namespace

Result<Pinned, std::string> Pinned::make(const std::string& path) {
  auto location = engine::visit_location(path);
  if (!location) return Failure{location.error()};
  if (location->lock != nullptr) return Pinned(std::move(*location), path, std::nullopt);

  auto connection = os::LocalSocket::connect(path, kControlName);
  if (!connection) return Failure{unreached(path, connection.error().what)};
  auto asked = connection->send_line(kPinRequest);
  if (!asked) return Failure{unreached(path, asked.error().what)};
  auto answer = connection->receive_line(kPatience);
  if (!answer) return Failure{unreached(path, answer.error().what)};
  if (!*answer) return Failure{unreached(path, "it does not answer")};
  const std::string pinned(kPinned);
  if (!(*answer)->starts_with(pinned)) {
    return Failure{"The server that uses the directory " + path + " refuses: " + **answer + "."};
  }
  std::string root = path + "/" + (*answer)->substr(pinned.size());
  return Pinned(std::move(*location), std::move(root), std::move(*connection));
}

}  // namespace kyanite::upkeep
