#include "upkeep/backup_list.h"

#include <vector>

#include "base/bytes.h"
#include "store/checksum.h"

namespace kyanite::upkeep {

namespace {

constexpr std::string_view kFirstLine = "kyanite backup 1";

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  while (!line.empty()) {
    const size_t end = std::min(line.find(' '), line.size());
    words.push_back(line.substr(0, end));
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  return words;
}

std::string_view take_line(std::string_view& text) {
  const size_t end = std::min(text.find('\n'), text.size());
  const auto line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

// Within the directory, and one file of one folder at most.
bool is_name(std::string_view name) {
  const size_t slash = name.find('/');
  const auto last = slash == std::string_view::npos ? name : name.substr(slash + 1);
  const auto folder = slash == std::string_view::npos ? "" : name.substr(0, slash);
  const bool known = folder == "records" || folder == "extents";
  if (slash != std::string_view::npos && !known) return false;
  return !last.empty() && last.front() != '.' && last.find('/') == std::string_view::npos;
}

bool take_file(BackupList& list, const std::vector<std::string_view>& words) {
  if (words.size() != 6 || words[0] != "file" || !is_name(words[1])) return false;
  const auto number = parse_uint(words[2]);
  const auto bytes = parse_uint(words[3]);
  const auto crc = parse_uint(words[4]);
  if (!number || !bytes || !crc || *crc > UINT32_MAX) return false;
  if (words[5] != "final" && words[5] != "open") return false;
  list.files[std::string(words[1])] = {*number, *bytes, static_cast<uint32_t>(*crc),
                                       words[5] == "final"};
  return true;
}

}  // namespace

std::string stored_name(const std::string& name, const BackupFile& file) {
  std::string flat = name;
  for (char& c : flat) c = c == '/' ? '_' : c;
  return "files/" + flat + "." + std::to_string(file.number);
}

bool is_stored_name(std::string_view stored) {
  constexpr std::string_view kFolder = "files/";
  const size_t dot = stored.rfind('.');
  if (!stored.starts_with(kFolder) || dot == std::string_view::npos) return false;
  if (!parse_uint(stored.substr(dot + 1))) return false;
  const auto flat = stored.substr(kFolder.size(), dot - std::min(dot, kFolder.size()));
  if (flat.find('/') != std::string_view::npos) return false;
  return flat == "FORMAT" || flat == "IDENTITY" || flat == "LOGS" || flat.starts_with("records_") ||
         flat.starts_with("extents_");
}

std::string text_of(const BackupList& list) {
  std::string text(kFirstLine);
  text.append("\ntarget ").append(list.target);
  text.append("\nid ").append(list.id);
  text.append("\nnumber ").append(std::to_string(list.number)).append("\n");
  for (const auto& [name, file] : list.files) {
    text.append("file ").append(name).append(" ").append(std::to_string(file.number));
    text.append(" ").append(std::to_string(file.bytes));
    text.append(" ").append(std::to_string(file.crc32c));
    text.append(file.final ? " final\n" : " open\n");
  }
  const std::string sum = std::to_string(store::crc32c(text));
  return text.append("sum ").append(sum).append("\n");
}

std::optional<BackupList> parse_backup_list(std::string_view text) {
  const size_t sum_at = text.rfind("sum ");
  if (sum_at == std::string_view::npos || !text.ends_with('\n')) return std::nullopt;
  const auto sum = parse_uint(text.substr(sum_at + 4, text.size() - sum_at - 5));
  if (!sum || *sum != store::crc32c(text.substr(0, sum_at))) return std::nullopt;
  text = text.substr(0, sum_at);
  if (take_line(text) != kFirstLine) return std::nullopt;
  BackupList list;
  const auto target = words_of(take_line(text));
  const auto id = words_of(take_line(text));
  const auto number = words_of(take_line(text));
  if (target.size() != 2 || id.size() != 2 || number.size() != 2) return std::nullopt;
  if (target[0] != "target" || id[0] != "id" || number[0] != "number") return std::nullopt;
  list.target = target[1];
  list.id = id[1];
  const auto counted = parse_uint(number[1]);
  if (!counted) return std::nullopt;
  list.number = *counted;
  while (!text.empty()) {
    if (!take_file(list, words_of(take_line(text)))) return std::nullopt;
  }
  return list;
}

Result<std::optional<BackupList>, std::string> read_backup_list(BackupPlace& place) {
  auto text = place.read(std::string(kBackupName));
  if (!text) return Failure{text.error()};
  if (!*text) return std::optional<BackupList>();
  auto list = parse_backup_list(**text);
  if (!list) return Failure{std::string("its file BACKUP is damaged or of another version")};
  return list;
}

}  // namespace kyanite::upkeep
