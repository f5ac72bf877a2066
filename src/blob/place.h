// Where the records of one blob are.
//
// In most containers everything of a blob lies in the partition of its name. In one with
// directories (hierarchy.h) the blob itself, and blocks that wait to be committed, lie under the id
// of its directory and its last name; what goes along when it is renamed, which is its content, the
// lists of its blocks and its snapshots, lies under an id of its own.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>

#include "content/content.h"
#include "store/key.h"

namespace kyanite::blob {

struct Blob;
struct Way;

class Place {
 public:
  Place() = default;
  // In a container without directories. The name outlives the place.
  Place(store::SpaceId space, std::string_view name) : space_(space), named_(name) {}
  // At the end of a way; its id is still to be told.
  Place(store::SpaceId space, std::shared_ptr<const Way> way);
  // Of this blob, whose head is in the partition `named`, which outlives the place.
  Place(store::SpaceId space, std::string_view named, const Blob& blob);

  store::SpaceId space() const { return space_; }
  // The partition of the blob itself and of blocks that wait to be committed.
  std::string_view named() const { return named_; }
  // The partition of everything else; where there are directories, once its id is known. Valid as
  // long as the place stays where it is.
  std::string_view own() const {
    return apart_ ? std::string_view(id_.data(), id_.size()) : named_;
  }
  // Where its content is. Valid as long as the place stays where it is.
  content::Place content() const { return {space_, own()}; }

  // Whether it is in a container with directories.
  bool is_apart() const { return apart_; }
  // The way on which it was found; null in a container without directories.
  const Way* way() const { return way_.get(); }
  // What is there, or is about to be, has this id. Means nothing without directories.
  void identify(uint64_t id);
  uint64_t id() const;

 private:
  store::SpaceId space_ = 0;
  std::string_view named_;
  bool apart_ = false;
  std::shared_ptr<const Way> way_;
  std::array<char, 8> id_ = {};
};

}  // namespace kyanite::blob
