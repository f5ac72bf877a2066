#include "engine/identity.h"

#include <cerrno>

#include "base/bytes.h"
#include "os/directory.h"

namespace kyanite::engine {

namespace {

constexpr std::string_view kName = "IDENTITY";
constexpr std::string_view kLocation = "location ";
constexpr std::string_view kStart = "\nstart ";
constexpr std::string_view kBeginning = "\nbeginning";
constexpr char kStandingVersion = 1;

std::string text_of(const Identity& identity) {
  std::string text(kLocation);
  text.append(hex(identity.location)).append(kStart).append(std::to_string(identity.start));
  if (identity.beginning) text.append(kBeginning);
  return text.append("\n");
}

}  // namespace

std::optional<Identity> parse_identity(std::string_view text) {
  if (!text.starts_with(kLocation) || !text.ends_with('\n')) return std::nullopt;
  text.remove_prefix(kLocation.size());
  text.remove_suffix(1);
  Identity identity;
  identity.beginning = text.ends_with(kBeginning);
  if (identity.beginning) text.remove_suffix(kBeginning.size());
  const size_t end = text.find(kStart);
  if (end == std::string_view::npos) return std::nullopt;
  const auto location = unhex(text.substr(0, end));
  const auto start = parse_uint(text.substr(end + kStart.size()));
  if (!location || location->size() != kLocationIdBytes || !start || *start == 0)
    return std::nullopt;
  identity.location = *location;
  identity.start = *start;
  return identity;
}

Result<std::optional<Identity>, std::string> read_identity(const std::string& directory) {
  auto text = os::read_text(directory + "/" + std::string(kName));
  if (!text && text.error().code == ENOENT) return std::optional<Identity>();
  if (!text) return Failure{"its file IDENTITY cannot be read (" + text.error().what + ")"};
  auto identity = parse_identity(*text);
  if (!identity) return Failure{std::string("its file IDENTITY is damaged")};
  return identity;
}

os::Result<void> write_identity(const std::string& directory, const Identity& identity) {
  return os::write_text(directory, std::string(kName), text_of(identity));
}

store::Key standing_key() { return {0, 'e', "location"}; }

store::RecordPtr to_record(const Standing& standing) {
  store::Record record;
  record.value += kStandingVersion;
  record.value += standing.location;
  append_varint(record.value, standing.start);
  append_varint(record.value, standing.announced);
  append_varint(record.value, standing.made);
  return std::make_shared<const store::SharedRecord>(std::move(record));
}

std::optional<Standing> standing_of(const store::Record& record) {
  std::string_view in(record.value);
  if (in.size() < 1 + kLocationIdBytes || in.front() != kStandingVersion) return std::nullopt;
  Standing standing;
  standing.location = in.substr(1, kLocationIdBytes);
  in.remove_prefix(1 + kLocationIdBytes);
  if (!read_varint(in, standing.start) || !read_varint(in, standing.announced) ||
      !read_varint(in, standing.made))
    return std::nullopt;
  return standing;
}

std::optional<std::string> mismatch(const std::optional<Identity>& identity,
                                    const std::optional<Standing>& standing) {
  if (!identity) {
    if (!standing) return std::nullopt;  // Of an earlier format.
    return "its file IDENTITY is missing";
  }
  // Before the first start was finished there may be no record.
  const bool first = identity->start == 1 && identity->beginning;
  if (!standing) {
    if (first) return std::nullopt;
    return "its records are older than its file IDENTITY, or not of this directory";
  }
  if (standing->location != identity->location)
    return "its records are those of another data directory";
  const auto start = [](uint64_t number) { return "start " + std::to_string(number); };
  if (standing->start > identity->start) {
    return "its file IDENTITY is of " + start(identity->start) + " and older than its records of " +
           start(standing->start);
  }
  const uint64_t behind = identity->start - standing->start;
  if (behind > (identity->beginning ? 1 : 0)) {
    return "its records are of " + start(standing->start) + " and older than its last one, " +
           start(identity->start);
  }
  return std::nullopt;
}

std::optional<std::string> mismatch(const Standing& standing, ExtentId highest) {
  if (highest > standing.announced) {
    return "its records do not know the extent " + extent_name(highest) +
           ", so they are older than the extents";
  }
  if (highest < standing.made) {
    return "its records know the extent " + extent_name(standing.made) +
           " or one after it, and there is none";
  }
  return std::nullopt;
}

}  // namespace kyanite::engine
