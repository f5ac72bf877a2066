// The properties that a query asks for by name, in its filter or its selection, and their values in
// one entity after the other. An entity is walked once, whatever the number of names.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "table/entity.h"
#include "table/value.h"

namespace kyanite::table {

// Values by the number of their column; nothing where the entity has none.
using Row = std::vector<std::optional<Value>>;

class Columns {
 public:
  Columns() = default;
  explicit Columns(const std::vector<std::string_view>& names) {
    for (const std::string_view name : names) add(name);
  }

  // The number of the column of this name, which is added if there is none yet.
  size_t add(std::string_view name);
  const std::vector<std::string>& names() const { return names_; }

  // The values live as long as what the entity points to.
  void load(const Entity& entity, Row& row) const;

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };

  std::vector<std::string> names_;
  std::unordered_map<std::string, size_t, Hash, std::equal_to<>> numbers_;
  size_t stored_ = 0;  // Those that are not the system's.
};

}  // namespace kyanite::table
