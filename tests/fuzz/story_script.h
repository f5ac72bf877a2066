// What front_fuzz is fed: a short story of requests as text that people can read and a fuzzer can
// change. Steps are apart by a line "%%"; a step is
//
//   b PUT /container/blob?comp=metadata      the service (b q t f, w for websites) and flags,
//   x-ms-meta-name: value                    the method and the target below the account
//                                            header lines, an empty line,
//   body                                     and everything up to the next "%%"
//
// or "wait 60", by which the clock goes on and the server's background work is done. Flags follow
// the service's letter: - unsigned, ~ without x-ms-version, ! the peer goes away before the end of
// the body, 2 the other account, s its secondary endpoint.
//
// {name} stands for what an earlier reply said: the value of the header, or the text of the last
// element, of that name. {sas} is a token for everything, and sig=? is signed as it should be.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kyanite::front {

struct Step {
  int64_t wait_s = 0;  // Above 0: nothing else counts.
  char service = 'b';
  std::string flags;
  std::string method;
  std::string target;
  std::vector<std::string> lines;  // of the head
  std::string body;

  bool has(char flag) const { return flags.find(flag) != std::string::npos; }
};

inline constexpr size_t kMostSteps = 24;
inline constexpr int64_t kLongestWait = 400LL * 24 * 3600;

// Cuts off what is before the next `end`, which goes too.
inline std::string_view cut(std::string_view& text, std::string_view end) {
  const size_t at = text.find(end);
  const std::string_view front = text.substr(0, at);
  text.remove_prefix(at == std::string_view::npos ? text.size() : at + end.size());
  return front;
}

inline Step parse_step(std::string_view text) {
  Step step;
  std::string_view first = cut(text, "\n");
  const std::string_view who = cut(first, " ");
  step.method = cut(first, " ");
  step.target = first;
  if (who == "wait") {
    const char* begin = step.method.data();
    std::from_chars(begin, begin + step.method.size(), step.wait_s);
    step.wait_s = step.wait_s < 1 || step.wait_s > kLongestWait ? 1 : step.wait_s;
    return step;
  }
  if (!who.empty()) step.service = who.front();
  if (!who.empty()) step.flags = who.substr(1);
  while (!text.empty()) {
    const std::string_view line = cut(text, "\n");
    if (line.empty()) break;
    step.lines.emplace_back(line);
  }
  step.body = text;
  return step;
}

inline std::vector<Step> parse_script(std::string_view text) {
  constexpr std::string_view kApart = "\n%%\n";
  std::vector<Step> steps;
  while (!text.empty() && steps.size() < kMostSteps) steps.push_back(parse_step(cut(text, kApart)));
  return steps;
}

}  // namespace kyanite::front
