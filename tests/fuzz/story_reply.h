// What the server said to a step of front_fuzz, and what must be true of everything it says.
#pragma once

#include <simdjson.h>
#include <pugixml.hpp>

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "fuzz/story_script.h"
#include "http/message.h"
#include "http/serialize.h"
#include "wire/xml.h"

namespace kyanite::front {

struct Answer {
  int status = 0;
  std::string head;
  std::string body;
  bool whole = true;  // False: there was more, which was not read.
  bool streamed = false;
  std::string error_code;
  std::string sent;  // The body of the request.

  bool good() const { return status >= 200 && status < 300; }
  std::optional<std::string_view> find(std::string_view name) const {
    std::string_view rest = head;
    while (!rest.empty()) {
      std::string_view line = cut(rest, "\r\n");
      if (equals_ignoring_case(cut(line, ": "), name)) return line;
    }
    return {};
  }
  std::string get(std::string_view name) const { return std::string(find(name).value_or("")); }
  bool is(std::string_view content_type) const {
    return find("Content-Type").value_or("").substr(0, content_type.size()) == content_type;
  }
};

// Ends the process with what was asked and answered unless `holds`.
inline void demand(bool holds, const char* rule, const Step& step, const Answer& answer) {
  if (holds) return;
  std::fprintf(stderr, "\n%s\n\n%c%s %s %s\n", rule, step.service, step.flags.c_str(),
               step.method.c_str(), step.target.c_str());
  for (const auto& line : step.lines) std::fprintf(stderr, "%s\n", line.c_str());
  std::fprintf(stderr, "\n%.2000s\n\n-> %d %s\n%s\n%.4000s\n", step.body.c_str(), answer.status,
               answer.error_code.c_str(), answer.head.c_str(), answer.body.c_str());
  std::abort();
}

// Well-formed as XML 1.0 has it, which pugixml alone does not demand: of what the services write,
// that is elements, attributes and text.
class XmlCheck {
 public:
  static bool well_formed(std::string_view document) {
    constexpr std::string_view kMark = "\xef\xbb\xbf";
    if (document.starts_with(kMark)) document.remove_prefix(kMark.size());
    if (!simdjson::validate_utf8(document.data(), document.size()) || !wire::xml_can_hold(document))
      return false;
    XmlCheck check(document);
    if (document.starts_with("<?xml ")) cut(check.rest_, "?>");
    check.skip_blanks();
    if (!check.element(0)) return false;
    check.skip_blanks();
    return check.rest_.empty();
  }

 private:
  static constexpr int kDeepest = 64;

  explicit XmlCheck(std::string_view document) : rest_(document) {}

  static bool in_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.' || c == ':' || static_cast<unsigned char>(c) >= 0x80;
  }
  bool take(std::string_view text) {
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }
  void skip_blanks() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size()));
  }
  std::string_view name() {
    size_t length = 0;
    while (length < rest_.size() && in_name(rest_[length])) ++length;
    const std::string_view name = rest_.substr(0, length);
    rest_.remove_prefix(length);
    const char first = name.empty() ? '-' : name.front();
    return first == '-' || first == '.' || (first >= '0' && first <= '9') ? std::string_view()
                                                                          : name;
  }
  static bool text(std::string_view text) {
    if (text.find("]]>") != std::string_view::npos) return false;
    for (size_t at = text.find('&'); at != std::string_view::npos; at = text.find('&', at + 1)) {
      const std::string_view name = text.substr(at + 1, text.find(';', at) - at - 1);
      if (text.find(';', at) == std::string_view::npos) return false;
      if (name.starts_with('#') && name.size() > 1) continue;
      if (name != "amp" && name != "lt" && name != "gt" && name != "quot" && name != "apos")
        return false;
    }
    return text.find('<') == std::string_view::npos;
  }
  bool attributes() {
    std::set<std::string_view> seen;
    while (true) {
      skip_blanks();
      if (rest_.starts_with('>') || rest_.starts_with('/')) return true;
      const auto called = name();
      if (called.empty() || !seen.insert(called).second || !take("=\"")) return false;
      if (rest_.find('"') == std::string_view::npos || !text(cut(rest_, "\""))) return false;
    }
  }
  bool element(int depth) {
    if (depth > kDeepest || !take("<")) return false;
    const auto tag = name();
    if (tag.empty() || !attributes()) return false;
    if (take("/>")) return true;
    if (!take(">")) return false;
    while (true) {
      const size_t length = std::min(rest_.find('<'), rest_.size());
      if (!text(rest_.substr(0, length))) return false;
      rest_.remove_prefix(length);
      if (take("</")) break;
      if (!element(depth + 1)) return false;
    }
    return take(tag) && take(">");
  }

  std::string_view rest_;
};

// Repeated lines would be read differently by different clients.
inline void check_head(const Step& step, const Answer& answer) {
  std::set<std::string> seen;
  std::string_view rest = answer.head;
  while (!rest.empty()) {
    demand(rest.find("\r\n") != std::string_view::npos, "a header line ends", step, answer);
    std::string_view line = cut(rest, "\r\n");
    demand(line.find(": ") != std::string_view::npos, "a header has a value", step, answer);
    const std::string_view name = cut(line, ": ");
    for (const char c : name) {
      const bool plain = c > ' ' && c < 0x7f && c != ':' && c != '"' && c != '/';
      demand(plain, "a header's name is a token", step, answer);
    }
    for (const char c : line)
      demand(static_cast<unsigned char>(c) >= ' ' && c != 0x7f, "a value is one line", step,
             answer);
    demand(seen.insert(ascii_lower(name)).second, "a header comes once", step, answer);
  }
  for (const char* name : {"content-length", "transfer-encoding", "connection", "date"})
    demand(!seen.contains(name), "framing is the connection's business", step, answer);
}

// Of documents, not of what clients stored.
inline void check_document(const Step& step, const Answer& answer) {
  if (answer.body.empty() || !answer.whole) return;
  if (answer.is("application/xml"))
    demand(XmlCheck::well_formed(answer.body), "XML is well-formed", step, answer);
  if (answer.is("application/json")) {
    simdjson::dom::parser parser;
    simdjson::dom::element element;
    const auto error = parser.parse(answer.body.data(), answer.body.size()).get(element);
    demand(error == simdjson::SUCCESS, "JSON is well-formed", step, answer);
  }
}

inline void check_answer(const Step& step, const Answer& answer) {
  demand(http::reason_phrase(answer.status) != "Unknown", "HTTP knows the status", step, answer);
  // What another server answers to a copy is told as a failure of this one.
  const bool inside = answer.error_code != "CannotVerifyCopySource";
  demand(!inside || (answer.status != 500 && answer.status != 507), "nothing fails inside", step,
         answer);
  check_head(step, answer);
  const bool error = answer.status >= 300;
  demand(error == !answer.error_code.empty(), "errors and only errors have a code", step, answer);
  const bool stored = !error && (answer.find("Accept-Ranges") || step.service == 'w');
  if (!stored) check_document(step, answer);
  if (!error || step.service == 'w') return;
  const bool told = answer.find("x-ms-error-code").value_or("") == answer.error_code;
  // Versions before 2017-07-29 do not have it.
  bool old = false;
  for (const auto& line : step.lines) old |= ascii_lower(line).find("version") != line.npos;
  old |= step.target.find("sv=") != step.target.npos || step.has('~') ||
         ascii_lower(step.target).find("version=") != step.target.npos;
  // What is wrong before the version is looked at is told without both.
  const bool early = !answer.find("x-ms-version");
  demand(told || old || early || answer.is("application/json"), "a reply names its error", step,
         answer);
  const bool bodiless = step.method == "HEAD" || answer.status == 304;
  demand(bodiless == answer.body.empty(), "an error has a body where there may be one", step,
         answer);
}

}  // namespace kyanite::front
