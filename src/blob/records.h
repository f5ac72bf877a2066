// What the Blob service stores. docs/formats/blob.md describes the keys and the meaning of every
// field.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "auth/caller.h"
#include "base/clock.h"
#include "content/content.h"
#include "service/access_policies.h"
#include "service/lease.h"
#include "service/metadata.h"
#include "store/key.h"

namespace kyanite::blob {

// Families of a container's space.
inline constexpr store::Family kHeads =
    'H';  // partition: blob name; row: empty for the blob itself

struct Container {
  store::SpaceId space = 0;  // The incarnation: where its blobs are.
  Time created;
  Time changed;  // ETag and Last-Modified.
  service::Metadata metadata;
  service::StoredLease lease;
  auth::PublicAccess public_access = auth::PublicAccess::kNone;
  std::vector<service::StoredPolicy> policies;

  template <class Io>
  void fields(Io& io) {
    io(1, space);
    io(2, created);
    io(3, changed);
    io(4, metadata);
    io(5, lease);
    io(6, public_access);
    io(7, policies);
  }
};

// A deleted incarnation whose records wait to be removed.
struct DeadContainer {
  store::SpaceId space = 0;
  Time deleted;
  template <class Io>
  void fields(Io& io) {
    io(1, space);
    io(2, deleted);
  }
};

enum class BlobType : uint8_t { kBlock, kPage, kAppend };

// Properties that clients set and get back as HTTP headers.
struct HttpProperties {
  std::string content_type;
  std::string content_encoding;
  std::string content_language;
  std::string content_disposition;
  std::string cache_control;
  std::string content_md5;  // 16 bytes, or empty
  template <class Io>
  void fields(Io& io) {
    io(1, content_type);
    io(2, content_encoding);
    io(3, content_language);
    io(4, content_disposition);
    io(5, cache_control);
    io(6, content_md5);
  }
};

enum class Tier : uint8_t { kInferred, kHot, kCool, kCold, kArchive };

struct Blob {
  BlobType type = BlobType::kBlock;
  Time created;
  Time changed;  // ETag and Last-Modified.
  content::Content content;
  HttpProperties http;
  service::Metadata metadata;
  service::StoredLease lease;
  Tier tier = Tier::kInferred;
  Time tier_changed;

  template <class Io>
  void fields(Io& io) {
    io(1, type);
    io(2, created);
    io(3, changed);
    io(4, content);
    io(5, http);
    io(6, metadata);
    io(7, lease);
    io(8, tier);
    io(9, tier_changed);
  }
};

std::string_view name(BlobType type);
std::string_view name(auth::PublicAccess access);  // "" for none
// What x-ms-access-tier says; an inferred tier is the account's default.
std::string_view name(Tier tier);

}  // namespace kyanite::blob
