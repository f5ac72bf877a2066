#include "account/properties.h"

#include <algorithm>
#include <iterator>
#include <pugixml.hpp>

#include "account/xml_error.h"
#include "base/bytes.h"
#include "lifetime/directory.h"
#include "service/storage.h"
#include "store/fields.h"
#include "transfer/body.h"
#include "wire/version.h"
#include "wire/xml.h"

namespace kyanite::account {

namespace {

// File service documents have protocol settings from this version on.
constexpr wire::Version kProtocolSettings{20200210};

store::Key properties_key(const service::Call& call) {
  return store::Key(lifetime::directory_space(call.target.account), lifetime::kPropertiesFamily,
                    wire::name(call.target.service));
}

// Collects the first error while a document is read, so that the reading itself stays plain.
class Reader {
 public:
  bool boolean(const pugi::xml_node& parent, const char* name, bool fallback) {
    const auto node = parent.child(name);
    if (!node) return fallback;
    const std::string text = ascii_lower(node.child_value());
    if (text != "true" && text != "false") fail(std::string(name) + " must be true or false.");
    return text == "true";
  }
  uint64_t number(const pugi::xml_node& parent, const char* name) {
    const auto node = parent.child(name);
    if (!node) return 0;
    auto value = parse_uint(trim(node.child_value()));
    if (!value) fail(std::string(name) + " must be a number.");
    return value.value_or(0);
  }
  // A policy is judged as a whole: what is wrong with it is found where it ends.
  RetentionPolicy retention(const pugi::xml_node& node) {
    RetentionPolicy policy;
    if (!node) return policy;
    if (!node.child("Enabled")) fail_at_end(node, "Element is missing: Enabled.");
    policy.enabled = boolean(node, "Enabled", false);
    policy.allow_permanent_delete = boolean(node, "AllowPermanentDelete", false);
    if (!policy.enabled) return policy;
    if (!node.child("Days")) fail_at_end(node, "Element is missing: Days.");
    const uint64_t days = number(node, "Days");
    if (days < 1 || days > kMaxRetentionDays) {
      fail_at_end(node,
                  "Retention days must be greater than 0 and less than or equal to 365 days.");
      return policy;
    }
    policy.days = static_cast<uint32_t>(days);
    return policy;
  }
  Metrics metrics(const pugi::xml_node& node) {
    Metrics metrics;
    metrics.version = node.child_value("Version");
    metrics.enabled = boolean(node, "Enabled", false);
    metrics.include_apis = boolean(node, "IncludeAPIs", false);
    metrics.retention = retention(node.child("RetentionPolicy"));
    return metrics;
  }
  Logging logging(const pugi::xml_node& node) {
    Logging logging;
    logging.version = node.child_value("Version");
    logging.deletes = boolean(node, "Delete", false);
    logging.reads = boolean(node, "Read", false);
    logging.writes = boolean(node, "Write", false);
    logging.retention = retention(node.child("RetentionPolicy"));
    return logging;
  }
  ProtocolSettings protocols(const pugi::xml_node& node, ProtocolSettings settings) {
    const auto smb = node.child("SMB");
    const auto multichannel = smb.child("Multichannel");
    settings.smb_multichannel = boolean(multichannel, "Enabled", settings.smb_multichannel);
    if (const auto encryption = smb.child("EncryptionInTransit"))
      settings.smb_encryption_required = boolean(encryption, "Required", false);
    if (const auto encryption = node.child("NFS").child("EncryptionInTransit"))
      settings.nfs_encryption_required = boolean(encryption, "Required", false);
    return settings;
  }
  std::vector<CorsRule> cors(const pugi::xml_node& node) {
    std::vector<CorsRule> rules;
    size_t bytes = 0;
    for (const auto& child : node.children("CorsRule")) {
      CorsRule rule;
      rule.origins = child.child_value("AllowedOrigins");
      rule.methods = child.child_value("AllowedMethods");
      rule.allowed_headers = names_first(child.child_value("AllowedHeaders"));
      rule.exposed_headers = names_first(child.child_value("ExposedHeaders"));
      rule.max_age_s = number(child, "MaxAgeInSeconds");
      check_origins(rule.origins);
      check_methods(rule.methods);
      check_headers(rule.allowed_headers);
      check_headers(rule.exposed_headers);
      bytes += rule.origins.size() + rule.methods.size() + rule.allowed_headers.size() +
               rule.exposed_headers.size() +
               std::string_view(child.child_value("MaxAgeInSeconds")).size();
      rules.push_back(std::move(rule));
    }
    if (rules.size() > kMaxCorsRules) fail("A maximum of 5 CORS rules is allowed.");
    if (bytes > kMaxCorsBytes) fail("The CORS rules exceed 2 KiB.");
    return rules;
  }
  void fail(std::string reason) {
    if (!reason_) reason_ = std::move(reason);
  }
  void fail_at_end(const pugi::xml_node& node, std::string reason) {
    if (!reason_) end_of_ = node;
    fail(std::move(reason));
  }
  const std::optional<std::string>& reason() const { return reason_; }
  // What was wrong: within `section`, or where the element ends that failed as a whole.
  wire::Error error(std::string_view body, const pugi::xml_node& section) const {
    const auto place = static_cast<size_t>((end_of_ ? end_of_ : section).offset_debug());
    if (!end_of_) return invalid_xml(body, place, *reason_);
    const size_t end = body.find("</" + std::string(end_of_.name()), place);
    return invalid_xml(body, end == std::string_view::npos ? place : end + 2, *reason_);
  }

 private:
  void check_origins(std::string_view list) {
    const auto origins = split_list(list);
    if (origins.empty()) fail("AllowedOrigins must not be empty.");
    if (origins.size() > kMaxCorsOrigins) fail("AllowedOrigins names more than 64 origins.");
    for (auto origin : origins) {
      if (origin.size() > kMaxCorsNameLength) fail("An origin is longer than 256 characters.");
    }
  }
  void check_methods(std::string_view list) {
    static constexpr std::string_view kKnown[] = {"DELETE",  "GET", "HEAD",  "MERGE",   "POST",
                                                  "OPTIONS", "PUT", "PATCH", "CONNECT", "TRACE"};
    const auto methods = split_list(list);
    if (methods.empty()) fail("AllowedMethods must not be empty.");
    for (auto method : methods) {
      if (std::find(std::begin(kKnown), std::end(kKnown), method) == std::end(kKnown))
        fail("AllowedMethods holds an unknown method.");
    }
  }
  void check_headers(std::string_view list) {
    size_t names = 0;
    size_t prefixes = 0;
    for (auto header : split_list(list)) {
      if (header.size() > kMaxCorsNameLength) fail("A header is longer than 256 characters.");
      const size_t star = header.find('*');
      if (star < header.size() - 1) fail("A header may hold an asterisk only at its end.");
      ++(star == std::string_view::npos ? names : prefixes);
    }
    if (names > kMaxCorsHeaders) fail("A maximum of 64 headers is allowed in a list.");
    if (prefixes > kMaxCorsPrefixes) fail("A maximum of 2 prefixed headers is allowed in a list.");
  }
  // A list of headers with the prefixes ("x-ms-meta-*") behind the names.
  static std::string names_first(std::string_view list) {
    std::string names;
    std::string prefixes;
    for (const auto header : split_list(list)) {
      std::string& part = header.ends_with('*') ? prefixes : names;
      if (!part.empty()) part += ',';
      part += header;
    }
    if (names.empty() || prefixes.empty()) return std::string(list);
    return names + ',' + prefixes;
  }

  std::optional<std::string> reason_;
  pugi::xml_node end_of_;
};

void write_boolean(wire::XmlWriter& xml, std::string_view tag, bool value) {
  xml.element(tag, value ? "true" : "false");
}

void write_retention(wire::XmlWriter& xml, std::string_view tag, const RetentionPolicy& policy) {
  xml.open(tag);
  write_boolean(xml, "Enabled", policy.enabled);
  if (policy.enabled) xml.element("Days", policy.days);
  xml.close(tag);
}

void write_version(wire::XmlWriter& xml, std::string_view version) {
  xml.element("Version", version.empty() ? "1.0" : version);
}

void write_metrics(wire::XmlWriter& xml, std::string_view tag, const Metrics& metrics) {
  xml.open(tag);
  write_version(xml, metrics.version);
  write_boolean(xml, "Enabled", metrics.enabled);
  if (metrics.enabled) write_boolean(xml, "IncludeAPIs", metrics.include_apis);
  write_retention(xml, "RetentionPolicy", metrics.retention);
  xml.close(tag);
}

void write_encryption(wire::XmlWriter& xml, const std::optional<bool>& required) {
  if (!required) return;
  xml.open("EncryptionInTransit");
  write_boolean(xml, "Required", *required);
  xml.close("EncryptionInTransit");
}

void write_protocols(wire::XmlWriter& xml, const ProtocolSettings& settings) {
  xml.open("ProtocolSettings").open("SMB").open("Multichannel");
  write_boolean(xml, "Enabled", settings.smb_multichannel);
  xml.close("Multichannel");
  write_encryption(xml, settings.smb_encryption_required);
  xml.close("SMB");
  if (settings.nfs_encryption_required) {
    xml.open("NFS");
    write_encryption(xml, settings.nfs_encryption_required);
    xml.close("NFS");
  }
  xml.close("ProtocolSettings");
}

}  // namespace

wire::Result<void> merge_properties(std::string_view body, wire::Service service,
                                    ServiceProperties& properties) {
  pugi::xml_document document;
  const auto parsed = document.load_buffer(body.data(), body.size());
  if (!parsed) return invalid_xml(body, static_cast<size_t>(parsed.offset));
  if (const auto unwritable = find_unwritable(document))
    return invalid_xml(body, static_cast<size_t>(unwritable.offset_debug()));
  const auto root = document.child("StorageServiceProperties");
  if (!root) return invalid_xml(body, 0, "StorageServiceProperties is missing.");
  // To the other services it says nothing.
  if (service == wire::Service::kQueue && !root.first_child())
    return invalid_xml(body, static_cast<size_t>(root.offset_debug()));
  const bool blob = service == wire::Service::kBlob;
  Reader reader;
  for (const auto& node : root.children()) {
    const std::string_view name = node.name();
    if (name == "Logging" && service != wire::Service::kFile) {
      properties.logging = reader.logging(node);
    } else if (name == "HourMetrics") {
      properties.hour_metrics = reader.metrics(node);
    } else if (name == "MinuteMetrics") {
      properties.minute_metrics = reader.metrics(node);
    } else if (name == "Cors") {
      properties.cors = reader.cors(node);
    } else if (name == "DefaultServiceVersion" && blob) {
      properties.default_version = node.child_value();
      if (!wire::Version::parse(properties.default_version))
        reader.fail("DefaultServiceVersion is not a version.");
    } else if (name == "DeleteRetentionPolicy" && blob) {
      properties.delete_retention = reader.retention(node);
    } else if (name == "StaticWebsite" && blob) {
      properties.static_website.enabled = reader.boolean(node, "Enabled", false);
      properties.static_website.index_document = node.child_value("IndexDocument");
      properties.static_website.default_index_path = node.child_value("DefaultIndexDocumentPath");
      properties.static_website.error_document_404 = node.child_value("ErrorDocument404Path");
    } else if (name == "ProtocolSettings" && service == wire::Service::kFile) {
      properties.protocols = reader.protocols(node, properties.protocols);
    } else {
      reader.fail(std::string(name) + " is not a property of this service.");
    }
    if (reader.reason()) return reader.error(body, node);
  }
  return {};
}

std::string write_properties(const ServiceProperties& properties, wire::Service service,
                             wire::Version version) {
  const bool blob = service == wire::Service::kBlob;
  wire::XmlWriter xml;
  xml.open("StorageServiceProperties");
  if (service != wire::Service::kFile) {
    const auto& logging = properties.logging;
    xml.open("Logging");
    write_version(xml, logging.version);
    write_boolean(xml, "Read", logging.reads);
    write_boolean(xml, "Write", logging.writes);
    write_boolean(xml, "Delete", logging.deletes);
    write_retention(xml, "RetentionPolicy", logging.retention);
    xml.close("Logging");
  }
  write_metrics(xml, "HourMetrics", properties.hour_metrics);
  write_metrics(xml, "MinuteMetrics", properties.minute_metrics);
  xml.open("Cors");
  for (const auto& rule : properties.cors) {
    xml.open("CorsRule")
        .element("AllowedMethods", rule.methods)
        .element("AllowedOrigins", rule.origins)
        .element("AllowedHeaders", rule.allowed_headers)
        .element("ExposedHeaders", rule.exposed_headers)
        .element("MaxAgeInSeconds", rule.max_age_s)
        .close("CorsRule");
  }
  xml.close("Cors");
  if (blob) {
    xml.optional("DefaultServiceVersion", properties.default_version);
    const auto& retention = properties.delete_retention;
    xml.open("DeleteRetentionPolicy");
    write_boolean(xml, "Enabled", retention.enabled);
    if (retention.enabled) xml.element("Days", retention.days);
    if (version >= wire::kBlobTags) {
      write_boolean(xml, "AllowPermanentDelete", retention.allow_permanent_delete);
    }
    xml.close("DeleteRetentionPolicy");
    const auto& website = properties.static_website;
    xml.open("StaticWebsite");
    write_boolean(xml, "Enabled", website.enabled);
    xml.optional("IndexDocument", website.index_document);
    xml.optional("DefaultIndexDocumentPath", website.default_index_path);
    xml.optional("ErrorDocument404Path", website.error_document_404);
    xml.close("StaticWebsite");
  }
  if (service == wire::Service::kFile && version >= kProtocolSettings)
    write_protocols(xml, properties.protocols);
  xml.close("StorageServiceProperties");
  return xml.take();
}

Task<wire::Result<std::shared_ptr<const ServiceProperties>>> load_properties(service::Call& call) {
  static const auto kUnset = std::make_shared<const ServiceProperties>();
  const auto key = properties_key(call);
  auto loaded = co_await service::load_shared<ServiceProperties>(call, key);
  if (!loaded) co_return loaded.error();
  if (loaded->value == nullptr) co_return kUnset;
  co_return std::move(loaded->value);
}

Task<wire::Result<http::Reply>> get_service_properties(service::Call& call) {
  auto properties = co_await load_properties(call);
  if (!properties) co_return properties.error();
  http::Reply reply(200);
  reply.header("Content-Type", "application/xml");
  reply.body = write_properties(**properties, call.target.service, call.version);
  co_return reply;
}

Task<wire::Result<http::Reply>> set_service_properties(service::Call& call) {
  auto body = co_await transfer::read_body(call, transfer::kMaxXmlBody);
  if (!body) co_return body.error();
  const auto key = properties_key(call);
  auto merge = [&](std::optional<ServiceProperties>& properties) {
    if (!properties) properties.emplace();
    return merge_properties(*body, call.target.service, *properties);
  };
  auto merged = co_await update<ServiceProperties>(call, key, merge);
  if (!merged) co_return merged.error();
  co_return http::Reply(202);
}

}  // namespace kyanite::account
