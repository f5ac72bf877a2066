// The query part of a URL, and percent-encoding.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kyanite::wire {

// Decodes %XX. Nothing when an escape is cut short or not hexadecimal. '+' stays '+'.
std::optional<std::string> percent_decode(std::string_view text);
// As percent_decode, and '+' is a space: what clients send in queries and forms.
std::optional<std::string> form_decode(std::string_view text);
// Encodes everything but unreserved characters and those in `keep`.
std::string percent_encode(std::string_view text, std::string_view keep = {});

// Whether a parameter as sent, "name=value", is the signature of a SAS, however its name is
// spelled: what is shown of a URL leaves it out.
bool is_signature(std::string_view parameter);

class Query {
 public:
  struct Parameter {
    std::string name;   // decoded, as sent
    std::string value;  // decoded
  };

  // Nothing when an escape is malformed or there are more than kMaxParameters.
  static std::optional<Query> parse(std::string_view raw);

  // The first parameter of that name, ignoring case. Absent and empty differ.
  std::optional<std::string_view> find(std::string_view name) const {
    if (parameters_.empty()) return {};
    return search(name);
  }
  std::string_view get(std::string_view name) const {
    return find(name).value_or(std::string_view());
  }
  bool has(std::string_view name) const { return find(name).has_value(); }
  auto begin() const { return parameters_.begin(); }
  auto end() const { return parameters_.end(); }

  static constexpr size_t kMaxParameters = 100;

 private:
  std::optional<std::string_view> search(std::string_view name) const;

  std::vector<Parameter> parameters_;
};

}  // namespace kyanite::wire
