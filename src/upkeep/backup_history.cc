#include "upkeep/backup_history.h"

#include <vector>

#include "engine/location.h"
#include "os/directory.h"

namespace kyanite::upkeep {

namespace {

constexpr size_t kMostTargets = 16;

// Lines of a target, a blank and an id; the last one used comes first.
std::vector<std::string> lines_of(const std::string& location) {
  std::vector<std::string> lines;
  auto text = os::read_text(location + "/" + engine::kBackupsName);
  if (!text) return lines;
  size_t at = 0;
  for (size_t end = text->find('\n'); end != std::string::npos; end = text->find('\n', at)) {
    lines.push_back(text->substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

}  // namespace

std::optional<std::string> last_backup(const std::string& location, const std::string& target) {
  for (const auto& line : lines_of(location)) {
    if (line.starts_with(target + " ")) return line.substr(target.size() + 1);
  }
  return std::nullopt;
}

os::Result<void> note_backup(const std::string& location, const std::string& target,
                             const std::string& id) {
  std::string text = target + " " + id + "\n";
  size_t count = 1;
  for (const auto& line : lines_of(location)) {
    if (line.starts_with(target + " ") || ++count > kMostTargets) continue;
    text.append(line).append("\n");
  }
  if (auto written = os::write_text(location, engine::kBackupsName, text); !written) return written;
  // The owner of the directory has to read it when it makes the next backup itself.
  return os::give_to_owner_of(location, engine::kBackupsName);
}

}  // namespace kyanite::upkeep
