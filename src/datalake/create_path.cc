// Path - Create: PUT /{filesystem}/{path}?resource=file|directory
#include "base/bytes.h"
#include "base/random.h"
#include "blob/expiry.h"
#include "blob/new_blob.h"
#include "datalake/access.h"
#include "datalake/access_headers.h"
#include "datalake/drafts.h"
#include "datalake/flat_tree.h"
#include "datalake/handlers.h"
#include "datalake/path_reply.h"
#include "datalake/properties.h"
#include "headers/lease.h"

namespace kyanite::datalake {

using blob::Blob;
using blob::Change;
using service::Call;
using wire::Code;
namespace posix = auth::posix;

namespace {

constexpr size_t kMaxContextBytes = 1024;
// Replies say that what was written is encrypted.
constexpr wire::Version kEncryptionTold{20200210};

struct Creation {
  bool directory = false;
  blob::BlobType type = blob::BlobType::kBlock;
  blob::NewBlob fresh;
  AccessOrder access;
  std::string encryption_context;
  std::string transaction;
  std::optional<headers::LeaseAction> lease;
  bool expires = false;
};

wire::Result<bool> decode_resource(const Call& call) {
  const auto text = call.query.get("resource");
  if (equals_ignoring_case(text, "file")) return false;
  if (equals_ignoring_case(text, "directory")) return true;
  return wire::invalid_query("resource", text);
}

// blobtype: what the file is to the Blob API.
wire::Result<blob::BlobType> decode_type(const Call& call, bool is_directory) {
  constexpr std::string_view kType = "blobtype";
  const auto text = call.query.get(kType);
  if (text.empty() || equals_ignoring_case(text, "blockblob")) return blob::BlobType::kBlock;
  if (equals_ignoring_case(text, "appendblob") && !is_directory) return blob::BlobType::kAppend;
  return wire::invalid_query(kType, text);
}

// A path can be leased from its first instant on.
wire::Result<std::optional<headers::LeaseAction>> decode_lease(const Call& call) {
  std::optional<headers::LeaseAction> lease;
  auto proposed = headers::decode_guid(call, "x-ms-proposed-lease-id");
  if (!proposed) return proposed.error();
  if (!*proposed) return lease;
  constexpr std::string_view kDuration = "x-ms-lease-duration";
  const auto text = call.headers().find(kDuration);
  const auto seconds =
      text ? parse_int(*text) : std::optional<int64_t>(concurrency::kInfiniteLease);
  if (!seconds || !concurrency::is_valid_lease_duration(concurrency::kBlobLeaseRules, *seconds))
    return wire::invalid_header(kDuration, *text);
  lease.emplace();
  lease->proposed = **proposed;
  lease->duration_s = static_cast<int32_t>(*seconds);
  return lease;
}

wire::Result<Creation> decode_creation(const Call& call) {
  Creation creation;
  auto directory = decode_resource(call);
  if (!directory) return directory.error();
  creation.directory = *directory;
  auto type = decode_type(call, creation.directory);
  if (!type) return type.error();
  creation.type = *type;
  auto properties = decode_properties(call);
  if (!properties) return properties.error();
  creation.fresh.metadata = properties->value_or(headers::Metadata());
  auto http = headers::decode_http_properties(call, headers::kFilePropertyHeaders);
  if (!http) return http.error();
  creation.fresh.http = std::move(*http);
  auto access = decode_access(call);
  if (!access) return access.error();
  creation.access = std::move(*access);
  auto lease = decode_lease(call);
  if (!lease) return lease.error();
  creation.lease = std::move(*lease);
  creation.encryption_context = call.headers().get("x-ms-encryption-context");
  if (creation.encryption_context.size() > kMaxContextBytes ||
      !is_valid_utf8(creation.encryption_context))
    return wire::invalid_header("x-ms-encryption-context", creation.encryption_context);
  auto transaction = decode_transaction(call);
  if (!transaction) return transaction.error();
  creation.transaction = std::move(*transaction);
  creation.expires = call.headers().has("x-ms-expiry-option");
  if (creation.expires && creation.directory)
    return wire::Error(Code::kExpiryNotSupportedForDirectory)
        .saying("Set Expiry is not supported for a directory");
  return creation;
}

// Without hierarchical namespace a path has neither access control nor a lease from its first
// instant on, nor does it expire unless the account's settings allow it, nor is it an append blob.
// A directory is a blob that says so.
wire::Result<void> be_flat(const Call& call, const Creation& creation,
                           const std::optional<Blob>& before, Blob& blob) {
  const bool expires = creation.expires && !call.settings().blob_expiry;
  const bool is_append_blob = creation.type == blob::BlobType::kAppend;
  if (creation.access.any() || creation.lease || expires || is_append_blob)
    return wire::Error(Code::kHierarchicalNamespaceNotEnabled);
  if (creation.directory) blob.metadata = marked(std::move(blob.metadata));
  // One that a rename is making is still that, and stays in the end.
  if (creation.directory && before && before->arrival)
    blob.arrival = blob::Arrival{before->arrival->from, false};
  return {};
}

// A directory that is made again keeps what lies in it, and with it who may do what, unless the
// request says otherwise. That takes what Set Access Control takes.
wire::Result<void> set_access_again(const Call& call, AccessOrder order, const Blob& before,
                                    Blob& blob) {
  blob.node = before.node;
  blob.node_id = before.node_id;
  blob.node->deleting = false;
  if (!order.any()) return {};
  if (auto may = may_set(call, order, before); !may) return may.error();
  if (order.permissions) {
    // Less the umask, as if it came to be now.
    const auto fresh = posix::born({}, {true, posix::kSuperuser, order.permissions, order.umask});
    order.permissions = {fresh.access.user, fresh.access.group, fresh.access.other, fresh.sticky};
  }
  return apply_access(order, true, blob.node->access);
}

wire::Result<void> give_access(const Call& call, const Creation& creation, const Change& change,
                               const std::optional<Blob>& before, Blob& blob) {
  const blob::Way* way = change.place.way();
  if (way == nullptr) return be_flat(call, creation, before, blob);
  if (before && before->is_directory())
    return set_access_again(call, creation.access, *before, blob);
  blob::give_node(call, *way, creation.directory, change.place.id(), blob,
                  creation.access.permissions, creation.access.umask);
  if (before) blob.node->moves = before->node->moves + 1;
  AccessOrder rest = creation.access;
  rest.permissions.reset();
  if (rest.any()) {
    if (auto may = may_give(call, rest, blob); !may) return may.error();
  }
  if (auto applied = apply_access(rest, creation.directory, blob.node->access); !applied)
    return applied.error();
  blob.node->encryption_context = creation.encryption_context;
  blob.node->transaction = creation.transaction;
  return {};
}

// Whoever wants to be the first is told what is there, whether it is leased or not: a client that
// makes directories is content with one.
Task<wire::Error> say_what_exists(Call& call, const blob::Checks& checks, bool wants_directory,
                                  wire::Error error) {
  const auto& none = checks.asked.conditions.if_none_match;
  const bool exists = error.code == Code::kBlobAlreadyExists ||
                      error.code == Code::kLeaseIdMissing ||
                      error.code == Code::kLeaseIdMismatchWithBlobOperation;
  if (!exists || !none || !none->any) co_return error;
  const auto found = co_await blob::find_blob(call);
  if (!found) co_return error;
  wire::Error known(Code::kBlobAlreadyExists);
  if (wants_directory) {
    known.headers.emplace_back("x-ms-existing-resource-type", blob::resource_type(*found->blob));
  }
  co_return known;
}

}  // namespace

Outcome create_path(Call& call) {
  auto creation = decode_creation(call);
  if (!creation) co_return creation.error();
  blob::Rules rules = blob::kCreates;
  rules.takes_directories = true;
  rules.needs_online = false;
  auto checks = blob::decode_checks(call, rules);
  if (!checks) co_return checks.error();
  auto edit = [&](Change& change) -> Task<wire::Result<void>> {
    const std::optional<Blob> before = change.blob;
    if (before && blob::is_folder(*before) != creation->directory)
      co_return wire::Error(Code::kPathConflict);
    auto replaced = co_await blob::replace_blob(call, change, creation->type, creation->fresh);
    if (!replaced) co_return replaced.error();
    Blob& blob = *change.blob;
    if (auto given = give_access(call, *creation, change, before, blob); !given)
      co_return given.error();
    if (!creation->directory) blob.draft = random_u64() | 1;
    blob.key_sha256 = blob::key_sha256(checks->key);
    if (creation->expires) {
      auto expiry = blob::decode_expiry(call, blob.created);
      if (!expiry) co_return expiry.error();
      blob.expires = *expiry;
    }
    if (creation->lease) {
      auto leased = headers::apply_lease(*creation->lease, blob.lease, concurrency::kBlobLeaseRules,
                                         call.now);
      if (!leased) co_return leased.error();
    }
    co_return wire::Result<void>();
  };
  auto changed = co_await blob::change_blob(call, *checks, edit);
  if (!changed)
    co_return co_await say_what_exists(call, *checks, creation->directory, changed.error());
  http::Reply reply(201);
  blob::encode_changed(reply, changed->changed);
  if (call.version >= kEncryptionTold) blob::encode_encrypted(reply, checks->key);
  co_return reply;
}

}  // namespace kyanite::datalake
