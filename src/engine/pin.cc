#include "engine/pin.h"

#include "base/log.h"
#include "os/directory.h"

namespace kyanite::engine {

Result<std::unique_ptr<Pin>, std::string> Pin::make(const Location& location, Records& records,
                                                    Extents& extents, store::Hold hold) {
  if (auto tidied = tidy(location); !tidied) return Failure{tidied.error().what};
  std::unique_ptr<Pin> pin(new Pin(location.pinned(), std::move(hold)));
  if (auto filled = pin->fill(location, records, extents); !filled) return Failure{filled.error()};
  return pin;
}

os::Result<void> Pin::tidy(const Location& location) { return os::remove_tree(location.pinned()); }

Pin::~Pin() {
  if (auto removed = os::remove_tree(directory_); !removed) log_warning(removed.error().what);
}

Result<void, std::string> Pin::fill(const Location& location, Records& records, Extents& extents) {
  const std::string database = directory_ + "/records";
  if (auto made = os::make_directories(database); !made) return Failure{made.error().what};
  if (auto pinned = records.pin_to(database, directory_); !pinned) return pinned;
  for (const std::string name : {"FORMAT", "IDENTITY"}) {
    auto text = os::read_text(location.path + "/" + name);
    auto written = text ? os::write_text(directory_, name, *text) : Failure{text.error()};
    if (!written) return Failure{written.error().what};
  }
  auto ids = extents.list();
  if (!ids) return Failure{ids.error().what};
  std::string open;
  for (const ExtentId id : *ids) {
    if (!extents.writer().is_sealed(id)) open.append(extent_name(id)).append("\n");
  }
  auto written = os::write_text(directory_, kOpenExtents, open);
  if (!written) return Failure{written.error().what};
  return {};
}

}  // namespace kyanite::engine
