#include "server/flags.h"

#include "base/bytes.h"

namespace kyanite::server {

namespace {

constexpr size_t kTextColumn = 40;

// "-l, --location DIR"
std::string spelled(const Flag& flag) {
  std::string text;
  if (flag.letter != '\0') text.append("-").append(1, flag.letter).append(", ");
  text.append("--").append(flag.name);
  if (flag.takes_value()) text.append(" ").append(flag.value);
  return text;
}

void append_line(std::string& out, std::string flags, std::string_view text) {
  flags.insert(0, "  ");
  if (flags.size() + 1 > kTextColumn) {
    out.append(flags).append("\n");
    flags.clear();
  }
  flags.resize(kTextColumn, ' ');
  out.append(flags).append(text).append("\n");
}

// Flags that share a text share a line.
void append_section(std::string& out, const Section& section) {
  out.append(section.title).append("\n");
  std::string together;
  for (const Flag& flag : section.flags) {
    if (flag.text == kUnlisted) continue;
    if (!together.empty()) together += ' ';
    together += spelled(flag);
    if (flag.text.empty()) continue;
    append_line(out, std::exchange(together, {}), flag.text);
  }
}

// The texts of the table have neither quotes nor control characters.
std::string in_quotes(std::string_view text) { return "\"" + std::string(text) + "\""; }

// The text that holds for the flag at `i`.
std::string_view text_of(std::span<const Flag> flags, size_t i) {
  while (flags[i].text.empty()) ++i;
  return flags[i].text;
}

}  // namespace

std::string variable_of(const Flag& flag) {
  std::string text = "KYANITE_";
  for (const char c : flag.name) {
    if (c >= 'A' && c <= 'Z') text += '_';
    text += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  }
  return text;
}

std::string help_text() {
  std::string out =
      "Usage: kyanite [FLAGS]\n"
      "       kyanite check|backup|restore|migrate|import [...]    --help after one says more\n"
      "Serves the Azure Storage protocols from one directory. Azurite's flags work unchanged.\n"
      "Each flag has a variable in the environment: KYANITE_BLOB_PORT is --blobPort.\n\n";
  for (const Section& section : flag_sections()) append_section(out, section);
  return out;
}

std::string describe_flags() {
  std::string out = "{\"version\": " + in_quotes(kVersion) + ", \"sections\": [";
  std::string_view between_sections;
  for (const Section& section : flag_sections()) {
    out.append(between_sections).append("\n {\"title\": ").append(in_quotes(section.title));
    out += ", \"flags\": [";
    between_sections = ",";
    std::string_view between_flags;
    for (size_t i = 0; i < section.flags.size(); ++i) {
      const Flag& flag = section.flags[i];
      if (flag.text == kUnlisted) continue;
      out.append(between_flags).append("\n  {\"name\": ").append(in_quotes(flag.name));
      if (flag.letter != '\0') out.append(", \"letter\": ").append(in_quotes({&flag.letter, 1}));
      if (flag.takes_value()) out.append(", \"value\": ").append(in_quotes(flag.value));
      if (section.in_environment)
        out.append(", \"variable\": ").append(in_quotes(variable_of(flag)));
      out.append(", \"text\": ").append(in_quotes(text_of(section.flags, i))).append("}");
      between_flags = ",";
    }
    out += "]}";
  }
  return out + "]}\n";
}

}  // namespace kyanite::server
