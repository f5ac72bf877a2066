#include "file/share_properties.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "concurrency/etag.h"
#include "headers/lease.h"
#include "wire/date.h"
#include "wire/version.h"

namespace kyanite::file {

using service::Call;

namespace {

// Cuts of behaviour; the names say what begins there.
constexpr wire::Version kShareTiers{20191212};
constexpr wire::Version kShareLeases{20200210};
constexpr wire::Version kSnapshotDirectories{20240804};
constexpr wire::Version kPaidBursting{20241104};

// What a premium share was asked to have or, if nothing was asked, is given by its size.
struct Provisioned {
  uint64_t iops, mibps;
};
Provisioned provisioned(const ShareProperties& properties) {
  const uint64_t gib = properties.quota_gib;
  Provisioned result{properties.provisioned_iops, properties.provisioned_mibps};
  if (result.iops == 0) result.iops = std::min<uint64_t>(3000 + gib, 102'400);
  if (result.mibps == 0) result.mibps = std::min<uint64_t>(100 + (gib + 9) / 10, 10'340);
  return result;
}

wire::Result<void> decode_quota(const Call& call, uint64_t& quota_gib) {
  constexpr std::string_view kQuota = "x-ms-share-quota";
  const auto text = call.headers().find(kQuota);
  if (!text) return {};
  const auto quota = parse_uint(*text);
  if (!quota || *quota < 1 || *quota > kMaxQuotaGib) return wire::invalid_header(kQuota, *text);
  quota_gib = *quota;
  return {};
}

wire::Result<void> decode_tier(const Call& call, ShareProperties& properties) {
  constexpr std::string_view kTier = "x-ms-access-tier";
  constexpr AccessTier kTiers[] = {AccessTier::kTransactionOptimized, AccessTier::kHot,
                                   AccessTier::kCool, AccessTier::kPremium};
  const auto text = call.headers().find(kTier);
  if (!text) return {};
  const auto tier = std::find_if(std::begin(kTiers), std::end(kTiers), [&](AccessTier each) {
    return equals_ignoring_case(*text, name(each));
  });
  if (tier == std::end(kTiers)) return wire::invalid_header(kTier, *text);
  if (properties.tier != *tier) properties.tier_changed = call.now;
  properties.tier = *tier;
  return {};
}

wire::Result<void> decode_squash(const Call& call, ShareProperties& properties) {
  constexpr std::string_view kSquash = "x-ms-root-squash";
  constexpr RootSquash kSquashes[] = {RootSquash::kNone, RootSquash::kRoot, RootSquash::kAll};
  const auto text = call.headers().find(kSquash);
  if (!text) return {};
  const auto squash =
      std::find_if(std::begin(kSquashes), std::end(kSquashes),
                   [&](RootSquash each) { return equals_ignoring_case(*text, name(each)); });
  // Only NFS has a root to squash.
  if (squash == std::end(kSquashes) || !properties.nfs) return wire::invalid_header(kSquash, *text);
  properties.root_squash = *squash;
  return {};
}

wire::Result<void> decode_number(const Call& call, std::string_view header, uint64_t& number) {
  const auto text = call.headers().find(header);
  if (!text) return {};
  const auto value = parse_uint(*text);
  if (!value) return wire::invalid_header(header, *text);
  number = *value;
  return {};
}

wire::Result<void> decode_switch(const Call& call, std::string_view header, bool& on) {
  const auto text = call.headers().find(header);
  if (!text) return {};
  on = equals_ignoring_case(*text, "true");
  if (!on && !equals_ignoring_case(*text, "false")) return wire::invalid_header(header, *text);
  return {};
}

void encode_lease(http::Reply& reply, const Call& call, const concurrency::Lease& lease) {
  if (call.version >= kShareLeases) headers::encode_lease(reply, lease, call.now);
}

bool is_premium(const ShareProperties& properties) {
  return properties.tier == AccessTier::kPremium;
}

void encode_tier(http::Reply& reply, const Call& call, const ShareProperties& properties) {
  if (call.version < kShareTiers) return;
  reply.header("x-ms-access-tier", name(properties.tier));
  if (is_premium(properties)) return;
  reply.header("x-ms-access-tier-change-time", wire::http_date(properties.tier_changed));
}

void encode_premium(http::Reply& reply, const Share& share) {
  const auto& properties = share.properties;
  const auto [iops, mibps] = provisioned(properties);
  reply.header("x-ms-enabled-protocols", properties.nfs ? "NFS" : "SMB");
  if (properties.nfs) reply.header("x-ms-root-squash", name(properties.root_squash));
  reply.header("x-ms-share-provisioned-iops", iops);
  reply.header("x-ms-share-provisioned-bandwidth-mibps", mibps);
  reply.header("x-ms-share-provisioned-ingress-mbps", mibps);
  reply.header("x-ms-share-provisioned-egress-mbps", mibps);
  reply.header("x-ms-share-next-allowed-quota-downgrade-time", wire::http_date(share.created));
}

void write_premium(wire::XmlWriter& xml, const Share& share) {
  const auto [iops, mibps] = provisioned(share.properties);
  xml.element("ProvisionedIops", iops);
  xml.element("ProvisionedBandwidthMiBps", mibps);
  xml.element("ProvisionedIngressMBps", mibps);
  xml.element("ProvisionedEgressMBps", mibps);
  xml.element("NextAllowedQuotaDowngradeTime", wire::http_date(share.created));
}

void write_head(wire::XmlWriter& xml, const Call& call, Time changed,
                const concurrency::Lease& lease, uint64_t quota_gib) {
  xml.element("Last-Modified", wire::http_date(changed));
  xml.element("Etag", concurrency::ETag{changed}.quoted());
  if (call.version >= kShareLeases) headers::write_lease(xml, lease, call.now);
  xml.element("Quota", quota_gib);
}

void write_encryption_scope(wire::XmlWriter& xml, const Call& call) {
  if (call.version < wire::kEncryptionScopes) return;
  xml.element("DefaultEncryptionScope", "$account-encryption-key");
  xml.element("DenyEncryptionScopeOverride", "false");
}

}  // namespace

wire::Result<ShareProperties> decode_new_share(const Call& call) {
  constexpr std::string_view kProtocols = "x-ms-enabled-protocols";
  ShareProperties properties;
  properties.quota_gib = kDefaultQuotaGib;
  properties.tier_changed = call.now;
  if (const auto text = call.headers().find(kProtocols)) {
    properties.nfs = equals_ignoring_case(*text, "nfs");
    if (!properties.nfs && !equals_ignoring_case(*text, "smb"))
      return wire::invalid_header(kProtocols, *text);
    // There is no other kind of NFS share.
    if (properties.nfs) properties.tier = AccessTier::kPremium;
  }
  auto metadata = headers::decode_metadata(call.headers());
  if (!metadata) return metadata.error();
  properties.metadata = std::move(*metadata);
  if (auto decoded = decode_share_changes(call, properties); !decoded) return decoded.error();
  return properties;
}

wire::Result<void> decode_share_changes(const Call& call, ShareProperties& properties) {
  const wire::Result<void> parts[] = {
      decode_quota(call, properties.quota_gib),
      decode_tier(call, properties),
      decode_squash(call, properties),
      decode_switch(call, "x-ms-enable-snapshot-virtual-directory-access",
                    properties.snapshot_directory),
      decode_switch(call, "x-ms-share-paid-bursting-enabled", properties.paid_bursting),
      decode_number(call, "x-ms-share-paid-bursting-max-bandwidth-mibps",
                    properties.paid_bursting_mibps),
      decode_number(call, "x-ms-share-paid-bursting-max-iops", properties.paid_bursting_iops),
      decode_number(call, "x-ms-share-provisioned-iops", properties.provisioned_iops),
      decode_number(call, "x-ms-share-provisioned-bandwidth-mibps", properties.provisioned_mibps),
  };
  for (const auto& part : parts) {
    if (!part) return part.error();
  }
  return {};
}

void encode_share_properties(http::Reply& reply, const Call& call, const Share& share) {
  const auto& properties = share.properties;
  reply.header("x-ms-share-quota", properties.quota_gib);
  encode_lease(reply, call, share.lease);
  reply.header("x-ms-has-immutability-policy", "false").header("x-ms-has-legal-hold", "false");
  if (call.version < kShareTiers) return;
  encode_tier(reply, call, properties);
  if (is_premium(properties)) encode_premium(reply, share);
  if (properties.nfs && call.version >= kSnapshotDirectories) {
    reply.header("x-ms-enable-snapshot-virtual-directory-access",
                 properties.snapshot_directory ? "true" : "false");
  }
  if (!is_premium(properties) || call.version < kPaidBursting) return;
  reply.header("x-ms-share-paid-bursting-enabled", properties.paid_bursting ? "true" : "false");
  if (properties.paid_bursting) {
    reply.header("x-ms-share-paid-bursting-max-iops", properties.paid_bursting_iops);
    reply.header("x-ms-share-paid-bursting-max-bandwidth-mibps", properties.paid_bursting_mibps);
  }
}

void encode_snapshot_properties(http::Reply& reply, const Call& call, const Snapshot& snapshot) {
  reply.header("x-ms-share-quota", snapshot.properties.quota_gib);
  encode_lease(reply, call, snapshot.lease);
  reply.header("x-ms-has-immutability-policy", "false").header("x-ms-has-legal-hold", "false");
  encode_tier(reply, call, snapshot.properties);
}

void write_share_properties(wire::XmlWriter& xml, const Call& call, const Share& share) {
  const auto& properties = share.properties;
  write_head(xml, call, share.changed, share.lease, properties.quota_gib);
  if (call.version >= kShareTiers) {
    if (is_premium(properties)) xml.element("EnabledProtocols", properties.nfs ? "NFS" : "SMB");
    if (properties.nfs) xml.element("RootSquash", name(properties.root_squash));
    xml.element("AccessTier", name(properties.tier));
    if (is_premium(properties)) {
      write_premium(xml, share);
    } else {
      xml.element("AccessTierChangeTime", wire::http_date(properties.tier_changed));
    }
  }
  write_encryption_scope(xml, call);
}

void write_snapshot_properties(wire::XmlWriter& xml, const Call& call, const Snapshot& snapshot) {
  write_head(xml, call, snapshot.changed, snapshot.lease, snapshot.properties.quota_gib);
  write_encryption_scope(xml, call);
}

}  // namespace kyanite::file
