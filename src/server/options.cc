#include "server/options.h"

#include <unistd.h>

#include <algorithm>
#include <set>

#include "base/bytes.h"
#include "server/flags.h"

namespace kyanite::server {

namespace {

using Outcome = Result<void, std::string>;

// Single-character edits between two words, letter case aside.
size_t distance(std::string_view a, std::string_view b) {
  const std::string left = ascii_lower(a);
  const std::string right = ascii_lower(b);
  std::vector<size_t> row(right.size() + 1);
  for (size_t i = 0; i < row.size(); ++i) row[i] = i;
  for (size_t i = 1; i <= left.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= right.size(); ++j) {
      const size_t substituted = diagonal + (left[i - 1] == right[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row.back();
}

// Nothing when no flag is near.
const Flag* nearest_flag(std::string_view flag_name) {
  const Flag* nearest = nullptr;
  for (const Section& section : flag_sections()) {
    for (const Flag& flag : section.flags) {
      if (nearest == nullptr || distance(flag.name, flag_name) < distance(nearest->name, flag_name))
        nearest = &flag;
    }
  }
  return distance(nearest->name, flag_name) <= 1 + nearest->name.size() / 4 ? nearest : nullptr;
}

std::string unknown(const std::string& spelled) {
  const std::string flag_name = spelled.substr(spelled.starts_with("--") ? 2 : 1);
  std::string message = "unknown flag " + spelled;
  if (const Flag* nearest = nearest_flag(flag_name); nearest != nullptr) {
    message.append("; did you mean --").append(nearest->name).append("?");
  }
  return message + " (--help lists all)";
}

// "--blobPort=1" is the flag "--blobPort" with the value "1".
struct Argument {
  std::string flag;
  std::optional<std::string> value;
};

Argument split(const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos) return {text, {}};
  return {text.substr(0, equals), text.substr(equals + 1)};
}

const Flag* find_flag(std::string_view spelled) {
  for (const Section& section : flag_sections()) {
    for (const Flag& flag : section.flags) {
      if (spelled.starts_with("--") && spelled.substr(2) == flag.name) return &flag;
      if (spelled.size() == 2 && spelled[0] == '-' && flag.letter != '\0' &&
          spelled[1] == flag.letter) {
        return &flag;
      }
    }
  }
  return nullptr;
}

// "-sL" is "-s -L" when these are flags.
std::vector<std::string> spread(const std::vector<std::string>& arguments) {
  std::vector<std::string> all;
  for (const std::string& argument : arguments) {
    const std::string letters = argument.substr(std::min<size_t>(argument.size(), 1));
    const bool cluster = argument.starts_with('-') && letters.size() > 1 &&
                         std::all_of(letters.begin(), letters.end(), [](char letter) {
                           return find_flag(std::string{'-', letter}) != nullptr;
                         });
    if (!cluster) all.push_back(argument);
    for (size_t i = 0; cluster && i < letters.size(); ++i)
      all.push_back(std::string{'-', letters[i]});
  }
  return all;
}

// What Azurite passes over: words that are no flags, and values of flags that take none.
void pass_over(Options& options, const std::string& word) {
  options.doubtful.push_back("'" + word + "' on the command line is passed over, as by Azurite");
}

// What only shows once all flags are known. `said` are those of the command line, which has the
// last word against the environment.
Outcome check_together(Options& options, const std::set<std::string_view>& said) {
  if (options.in_memory && said.contains("location")) {
    if (said.contains("inMemoryPersistence")) {
      return std::string(
          "--inMemoryPersistence keeps nothing, so --location makes no sense with it");
    }
    options.in_memory = false;
  }
  if (said.contains("extentMemoryLimit") && !options.in_memory) {
    return std::string("--extentMemoryLimit is only for --inMemoryPersistence");
  }
  if (options.cert_file.empty() && !(options.key_file.empty() && options.cert_password.empty())) {
    return std::string("--key and --pwd belong to a certificate: --cert is missing");
  }
  if (options.https && !options.cert_file.empty()) {
    return std::string("--https makes a certificate, --cert gives one: choose one of the two");
  }
  if (!options.https_hosts.empty() && !options.https) {
    return std::string("--httpsHost names hosts of the certificate that --https makes");
  }
  if (options.oauth && options.cert_file.empty() && !options.https) {
    // As Azurite and every SDK: a bearer token is never sent over a plain connection.
    return std::string("--oauth needs HTTPS: give --https, or --cert and --key");
  }
  if (options[Listener::kToken].named && !options.local_tokens) {
    return std::string("--tokenHost and --tokenPort are for --oauth local");
  }
  return {};
}

Outcome apply_arguments(Options& options, const std::vector<std::string>& given,
                        std::set<std::string_view>& said) {
  const std::vector<std::string> arguments = spread(given);
  const bool lenient = options.personality != Personality::kKyanite;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (!arguments[i].starts_with("-")) {
      if (!lenient) return "'" + arguments[i] + "' is not a flag (--help lists all)";
      pass_over(options, arguments[i]);
      continue;
    }
    auto [spelled, value] = split(arguments[i]);
    const Flag* flag = find_flag(spelled);
    if (flag == nullptr) return unknown(spelled);
    if (flag->takes_value() && !value) {
      // A word that begins with a dash is the next flag, not a value; "--pwd=-x" says otherwise.
      if (i + 1 == arguments.size() || arguments[i + 1].starts_with("-")) {
        return spelled + " wants a value";
      }
      value = arguments[++i];
    }
    if (!flag->takes_value() && value) {
      if (!lenient) return spelled + " takes no value";
      pass_over(options, *value);
    }
    if (auto applied = flag->apply(options, value.value_or("")); !applied) {
      return spelled + " " + applied.error();
    }
    said.insert(flag->name);
  }
  return {};
}

// What a variable says of a flag. An empty one says nothing, as if it were not there.
Outcome apply_variable(Options& options, const Flag& flag, std::string_view value) {
  if (value.empty()) return {};
  if (!flag.takes_value()) {
    if (value == "false" || value == "0") return {};
    if (value != "true" && value != "1") return std::string("wants true or false");
    return flag.apply(options, "");
  }
  if (!flag.repeated) return flag.apply(options, value);
  while (!value.empty()) {
    const std::string_view item = value.substr(0, value.find(';'));
    value.remove_prefix(std::min(value.size(), item.size() + 1));
    if (item.empty()) continue;
    if (auto applied = flag.apply(options, item); !applied) return applied;
  }
  return {};
}

// Variables of our own that name no flag. Others may use such names (Kubernetes makes some of the
// names of services), so only what looks misspelt is spoken of.
void note_misspelt(Options& options, const Environment& environment,
                   const std::set<std::string>& known) {
  constexpr std::string_view kOurs = "KYANITE_";
  for (const auto& [variable, value] : environment) {
    if (!variable.starts_with(kOurs) || known.contains(variable)) continue;
    for (const std::string& flag_variable : known) {
      if (distance(flag_variable, variable) > 2) continue;
      options.doubtful.push_back(variable + " is no setting; " + flag_variable + " is one");
      break;
    }
  }
}

Outcome apply_environment(Options& options, const Environment& environment) {
  std::set<std::string> known = {std::string(kAccountsVariable)};
  for (const Section& section : flag_sections()) {
    if (!section.in_environment) continue;
    for (const Flag& flag : section.flags) {
      const std::string variable = variable_of(flag);
      known.insert(variable);
      const auto found = environment.find(variable);
      if (found == environment.end()) continue;
      // Kubernetes makes such variables of the names of services.
      if (found->second.starts_with("tcp://") || found->second.starts_with("udp://")) {
        options.doubtful.push_back(variable + " is an address of another program's and not used");
        continue;
      }
      if (auto applied = apply_variable(options, flag, found->second); !applied) {
        return variable + " " + applied.error();
      }
    }
  }
  note_misspelt(options, environment, known);
  // Azurite's own; see README of Azurite. Its accounts are read with the settings.
  const auto skip = environment.find("AZURITE_SKIP_API_VERSION_CHECK");
  if (skip != environment.end() && skip->second == "true") {
    options.without_effect.emplace_back(
        "AZURITE_SKIP_API_VERSION_CHECK: every well-formed x-ms-version is served");
  }
  if (environment.contains("AZURITE_DB")) {
    options.without_effect.emplace_back("AZURITE_DB: records are kept in the location");
  }
  return {};
}

constexpr std::pair<std::string_view, Personality> kPersonalities[] = {
    {"kyanite", Personality::kKyanite},
    {"azurite", Personality::kAzurite},
    {"azurite-blob", Personality::kAzuriteBlob},
    {"azurite-queue", Personality::kAzuriteQueue},
    {"azurite-table", Personality::kAzuriteTable},
};

// Whether a program of this name serves it without being asked.
bool serves_unasked(Personality personality, Listener listener) {
  switch (personality) {
    case Personality::kKyanite:
      return listener != Listener::kWeb;
    case Personality::kAzurite:
      return listener == Listener::kBlob || listener == Listener::kQueue ||
             listener == Listener::kTable;
    case Personality::kAzuriteBlob:
      return listener == Listener::kBlob;
    case Personality::kAzuriteQueue:
      return listener == Listener::kQueue;
    case Personality::kAzuriteTable:
      return listener == Listener::kTable;
  }
  return false;
}

// Whether a program of this name serves it when asked: those for one service of Azurite's have that
// one only, whatever the environment says of others.
bool serves_asked(Personality personality, Listener listener) {
  const bool one_of_three =
      listener == Listener::kBlob || listener == Listener::kQueue || listener == Listener::kTable;
  return !one_of_three || serves_unasked(personality, listener);
}

}  // namespace

std::string_view name(Listener listener) {
  switch (listener) {
    case Listener::kBlob:
      return "blob";
    case Listener::kQueue:
      return "queue";
    case Listener::kTable:
      return "table";
    case Listener::kFile:
      return "file";
    case Listener::kSmb:
      return "smb";
    case Listener::kWeb:
      return "web";
    case Listener::kAdmin:
      return "admin";
    case Listener::kToken:
      return "token";
  }
  return "";
}

std::string where_flags(Listener listener) {
  const std::string flag = "--" + std::string(name(listener));
  return "; " + flag + "Port chooses another port, " + flag + "Host another address";
}

Options::Options() {
  (*this)[Listener::kBlob].port = 10000;
  (*this)[Listener::kQueue].port = 10001;
  (*this)[Listener::kTable].port = 10002;
  (*this)[Listener::kFile].port = 10003;
  (*this)[Listener::kSmb].port = 10445;
  (*this)[Listener::kWeb].port = 10080;
  (*this)[Listener::kAdmin].port = 10010;
  (*this)[Listener::kToken].port = 10011;
}

std::optional<Personality> personality_of(std::string_view program) {
  const std::string_view base = program.substr(program.rfind('/') + 1);
  for (const auto& [known, personality] : kPersonalities) {
    if (base == known) return personality;
  }
  return std::nullopt;
}

bool serves(const Options& options, Listener listener) {
  const auto wanted = [&](Listener one) {
    return serves_unasked(options.personality, one) ||
           (options[one].named && serves_asked(options.personality, one));
  };
  if (listener == Listener::kToken) return options.local_tokens;
  // Where clients get the certificate of the authority, and machines their tokens.
  const bool needs_page = options.local_tokens || (options.https && options.in_memory);
  if (listener == Listener::kAdmin && needs_page) return true;
  if (listener == Listener::kSmb) return options.smb && wanted(listener);
  // What SMB shows are the files of the File service.
  if (listener == Listener::kFile && serves(options, Listener::kSmb)) return true;
  return wanted(listener);
}

Environment process_environment() {
  Environment found;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const size_t equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view variable = text.substr(0, equals);
    if (!variable.starts_with("KYANITE_") && !variable.starts_with("AZURITE_") &&
        variable != kCredentialsVariable) {
      continue;
    }
    found.emplace(variable, text.substr(equals + 1));
  }
  return found;
}

Result<Options, std::string> parse_options(const std::vector<std::string>& arguments,
                                           const Environment& environment,
                                           Personality personality) {
  Options options;
  options.personality = personality;
  std::set<std::string_view> said;
  if (auto applied = apply_environment(options, environment); !applied) {
    return Failure{applied.error()};
  }
  if (auto applied = apply_arguments(options, arguments, said); !applied) {
    return Failure{applied.error()};
  }
  if (auto fine = check_together(options, said); !fine) return Failure{fine.error()};
  return options;
}

}  // namespace kyanite::server
