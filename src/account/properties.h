// The properties of a service (logging, metrics, CORS, default version; for blobs soft delete and
// static website, for files protocol settings): the record, its XML, and what every request needs
// of it, the CORS rules.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/task.h"
#include "service/call.h"
#include "wire/error.h"
#include "wire/service.h"

namespace kyanite::account {

// Limits of the CORS rules of one service.
inline constexpr size_t kMaxCorsRules = 5;
inline constexpr size_t kMaxCorsBytes = 2 * 1024;  // Of all settings together, without the tags.
inline constexpr size_t kMaxCorsOrigins = 64;      // per rule
inline constexpr size_t kMaxCorsNameLength = 256;  // of an origin or a header
// Of the allowed and likewise of the exposed headers of a rule: names, and prefixes
// ("x-ms-meta-*").
inline constexpr size_t kMaxCorsHeaders = 64;
inline constexpr size_t kMaxCorsPrefixes = 2;
inline constexpr uint32_t kMaxRetentionDays = 365;

struct RetentionPolicy {
  bool enabled = false;
  uint32_t days = 0;
  bool allow_permanent_delete = false;
  template <class Io>
  void fields(Io& io) {
    io(1, enabled);
    io(2, days);
    io(3, allow_permanent_delete);
  }
};

struct Logging {
  std::string version;  // Empty: the first, 1.0.
  bool deletes = false;
  bool reads = false;
  bool writes = false;
  RetentionPolicy retention;
  template <class Io>
  void fields(Io& io) {
    io(1, version);
    io(2, deletes);
    io(3, reads);
    io(4, writes);
    io(5, retention);
  }
};

struct Metrics {
  std::string version;  // Empty: the first, 1.0.
  bool enabled = false;
  bool include_apis = false;
  RetentionPolicy retention;
  template <class Io>
  void fields(Io& io) {
    io(1, version);
    io(2, enabled);
    io(3, include_apis);
    io(4, retention);
  }
};

struct CorsRule {
  std::string origins;  // Comma-separated lists, as sent.
  std::string methods;
  std::string allowed_headers;
  std::string exposed_headers;
  uint64_t max_age_s = 0;
  template <class Io>
  void fields(Io& io) {
    io(1, origins);
    io(2, methods);
    io(3, allowed_headers);
    io(4, exposed_headers);
    io(5, max_age_s);
  }
};

struct StaticWebsite {
  bool enabled = false;
  std::string index_document;
  std::string default_index_path;
  std::string error_document_404;
  template <class Io>
  void fields(Io& io) {
    io(1, enabled);
    io(2, index_document);
    io(3, default_index_path);
    io(4, error_document_404);
  }
};

// How shares are offered over SMB and NFS.
struct ProtocolSettings {
  bool smb_multichannel = false;
  // Set: the client has said whether connections have to be encrypted.
  std::optional<bool> smb_encryption_required;
  std::optional<bool> nfs_encryption_required;
  template <class Io>
  void fields(Io& io) {
    io(1, smb_multichannel);
    io(2, smb_encryption_required);
    io(3, nfs_encryption_required);
  }
};

struct ServiceProperties {
  Logging logging;
  Metrics hour_metrics;
  Metrics minute_metrics;
  std::vector<CorsRule> cors;
  std::string default_version;
  RetentionPolicy delete_retention;
  StaticWebsite static_website;
  ProtocolSettings protocols;
  template <class Io>
  void fields(Io& io) {
    io(1, logging);
    io(2, hour_metrics);
    io(3, minute_metrics);
    io(4, cors);
    io(5, default_version);
    io(6, delete_retention);
    io(7, static_website);
    io(8, protocols);
  }
};

// The stored properties, or the defaults.
Task<wire::Result<std::shared_ptr<const ServiceProperties>>> load_properties(service::Call& call);

// Merges a request body into the properties: sections that are absent stay as they are.
wire::Result<void> merge_properties(std::string_view xml, wire::Service service,
                                    ServiceProperties& properties);
// The document as a client of that version expects it.
std::string write_properties(const ServiceProperties& properties, wire::Service service,
                             wire::Version version);

// GET and PUT /?restype=service&comp=properties: the same for every service.
Task<wire::Result<http::Reply>> get_service_properties(service::Call& call);
Task<wire::Result<http::Reply>> set_service_properties(service::Call& call);

}  // namespace kyanite::account
