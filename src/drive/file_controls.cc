#include "drive/file_controls.h"

#include <cstring>
#include <utility>
#include <vector>

#include "drive/connection.h"
#include "drive/file_facts.h"
#include "drive/file_status.h"
#include "drive/limits.h"
#include "drive/store_status.h"
#include "drive/volume.h"
#include "drive/write_through.h"
#include "smb/ioctl.h"
#include "tree/file_io.h"

namespace kyanite::drive {

namespace {

using smb::Control;
using smb::Status;
namespace access = smb::access;

template <class Body>
ControlOutput output_of(const Body& body, Status status = Status::kSuccess) {
  ControlOutput output;
  output.status = status;
  smb::append_fields(output.bytes, body);
  return output;
}

// --- Copies ---

// The key of an open is its id: whoever has it has the open anyway.
smb::ResumeKey key_of(const Open& open) {
  smb::ResumeKey key{};
  std::memcpy(key.data(), &open.id.persistent_id, sizeof open.id.persistent_id);
  std::memcpy(key.data() + 8, &open.id.volatile_id, sizeof open.id.volatile_id);
  return key;
}

std::shared_ptr<Open> find_by_key(const Session& session, const smb::ResumeKey& key) {
  smb::FileId id;
  std::memcpy(&id.persistent_id, key.data(), sizeof id.persistent_id);
  std::memcpy(&id.volatile_id, key.data() + 8, sizeof id.volatile_id);
  auto open = session.find_open(id);
  return open != nullptr && key_of(*open) == key ? open : nullptr;
}

bool within_limits(const smb::CopyChunkRequest& copy) {
  if (copy.too_many) return false;
  uint64_t total = 0;
  for (const auto& chunk : copy.chunks) {
    if (chunk.length == 0 || chunk.length > smb::kMaxChunkBytes) return false;
    total += chunk.length;
  }
  return total <= smb::kMaxCopyBytes;
}

Status why_not_copied(const tree::Error& error) {
  if (error == tree::Error(tree::Reason::kNotFound)) return Status::kInvalidViewSize;
  if (error == tree::Error(tree::Reason::kTooLarge)) return Status::kDiskFull;
  return drive::status_of(error);
}

// All of them, or those before one that cannot be copied: `done` is how far it came.
Task<ControlOutput> copy_each(Exchange& exchange, Open& source, Open& target,
                              const smb::CopyChunkRequest& copy, smb::CopyChunkReply& done) {
  for (const auto& chunk : copy.chunks) {
    if (chunk.source_offset > INT64_MAX || chunk.target_offset > INT64_MAX)
      co_return ControlOutput::refusal(Status::kInvalidParameter);
    auto copied = co_await tree::copy_range(exchange.occasion, source.file, chunk.source_offset,
                                            target.file, chunk.target_offset, chunk.length);
    if (!copied) {
      // How far it came is told as well. With INVALID_PARAMETER it would be taken for the limits.
      co_return output_of(done, why_not_copied(copied.error()));
    }
    ++done.chunks;
    done.total_bytes += chunk.length;
  }
  co_return output_of(done);
}

Task<ControlOutput> copy_chunks(Exchange& exchange, Open& target,
                                const smb::IoctlRequest& request) {
  if (request.max_output < smb::CopyChunkReply::kBytes)
    co_return ControlOutput::refusal(Status::kInvalidParameter);
  const auto copy = smb::decode_input<smb::CopyChunkRequest>(request.input);
  if (!copy) co_return ControlOutput::refusal(copy.error());
  const auto source = find_by_key(*exchange.session, copy->key);
  if (source == nullptr) co_return ControlOutput::refusal(Status::kObjectNameNotFound);
  exchange.work_with(source);
  if (!within_limits(*copy))
    co_return output_of(smb::CopyChunkReply::limits(), Status::kInvalidParameter);
  const bool reads_target = request.control == Control::kCopyChunk;
  if (source->file.directory || target.file.directory ||
      !source->has_any(access::kReadData | access::kExecute) ||
      !target.has_any(access::kWriteData | access::kAppendData) ||
      (reads_target && !target.has(access::kReadData)))
    co_return ControlOutput::refusal(Status::kAccessDenied);
  smb::CopyChunkReply done;
  auto output = co_await copy_each(exchange, *source, target, *copy, done);
  if (done.chunks != 0) {
    // What is told to be copied must be stored if the rest is not, too.
    if (auto stored = co_await write_through(exchange, target); !stored)
      co_return ControlOutput::refusal(drive::status_of(stored.error()));
  }
  co_return output;
}

// --- Ranges ---

Task<ControlOutput> set_zeros(Exchange& exchange, Open& open, const smb::IoctlRequest& request) {
  const auto range = smb::decode_input<smb::ZeroDataRequest>(request.input);
  if (!range) co_return ControlOutput::refusal(range.error());
  if (range->begin > range->end || range->end > INT64_MAX)
    co_return ControlOutput::refusal(Status::kInvalidParameter);
  if (!open.has(access::kWriteData)) co_return ControlOutput::refusal(Status::kAccessDenied);
  auto done = co_await tree::clear_range(exchange.occasion, open.file, range->begin, range->end);
  if (done) done = co_await write_through(exchange, open);
  if (!done) co_return ControlOutput::refusal(drive::status_of(done.error()));
  co_return ControlOutput();
}

Task<ControlOutput> query_ranges(Exchange& exchange, Open& open, const smb::IoctlRequest& request) {
  const auto asked = smb::decode_input<smb::Range>(request.input);
  if (!asked) co_return ControlOutput::refusal(asked.error());
  if (asked->offset > INT64_MAX || asked->length > uint64_t{INT64_MAX} - asked->offset)
    co_return ControlOutput::refusal(Status::kInvalidParameter);
  if (!open.has(access::kReadData)) co_return ControlOutput::refusal(Status::kAccessDenied);
  // One more than there is room for: then the client learns that there are more.
  const size_t most = request.max_output / smb::kRangeBytes + 1;
  auto runs = co_await tree::written_ranges(exchange.occasion, open.file, asked->offset,
                                            asked->offset + asked->length, most);
  if (!runs) co_return ControlOutput::refusal(drive::status_of(runs.error()));
  std::vector<smb::Range> ranges;
  for (const auto& run : *runs) ranges.push_back({run.start, run.end - run.start});
  auto fitted = smb::encode_ranges(ranges, request.max_output);
  co_return ControlOutput{fitted.status, std::move(fitted.bytes),
                          fitted.status != Status::kBufferTooSmall};
}

// --- Others ---

Task<ControlOutput> list_snapshots(Exchange& exchange, Open& open,
                                   const smb::IoctlRequest& request) {
  constexpr size_t kMostSnapshots = 512;
  auto snapshots = co_await exchange.connection.drive().shares.snapshots(
      exchange.occasion, open.tree->share, kMostSnapshots);
  if (!snapshots) co_return ControlOutput::refusal(drive::status_of(snapshots.error()));
  auto bytes = smb::encode_snapshots(*snapshots, request.max_output);
  if (!bytes) co_return ControlOutput::refusal(Status::kInvalidParameter);
  co_return ControlOutput{Status::kSuccess, std::move(*bytes)};
}

ControlOutput resume_key(const Open& open, const smb::IoctlRequest& request) {
  if (request.max_output < smb::ResumeKeyReply::kBytes)
    return ControlOutput::refusal(Status::kInvalidParameter);
  return output_of(smb::ResumeKeyReply{key_of(open)});
}

// Files have one from the beginning: it is made of their numbers.
ControlOutput object_id(const Open& open, const smb::IoctlRequest& request) {
  if (request.max_output < smb::ObjectIdReply::kBytes)
    return ControlOutput::refusal(Status::kInvalidParameter);
  return output_of(smb::ObjectIdReply{file_id_of(open.file.file.id), volume_id(open.file.tree)});
}

ControlOutput set_compression(const Open& open, const smb::IoctlRequest& request) {
  const auto asked = smb::decode_input<smb::CompressionFormat>(request.input);
  if (!asked) return ControlOutput::refusal(asked.error());
  if (!open.has(access::kWriteData)) return ControlOutput::refusal(Status::kAccessDenied);
  if (asked->format != smb::CompressionFormat::kNone)
    return ControlOutput::refusal(Status::kNotSupported);
  return {};
}

}  // namespace

Task<ControlOutput> file_control(Exchange& exchange, Open& open, const smb::IoctlRequest& request) {
  switch (request.control) {
    case Control::kRequestResumeKey:
      co_return resume_key(open, request);
    case Control::kCopyChunk:
    case Control::kCopyChunkWrite:
      co_return co_await copy_chunks(exchange, open, request);
    case Control::kSetZeroData:
      co_return co_await set_zeros(exchange, open, request);
    case Control::kQueryAllocatedRanges:
      co_return co_await query_ranges(exchange, open, request);
    case Control::kEnumerateSnapshots:
      co_return co_await list_snapshots(exchange, open, request);
    case Control::kCreateOrGetObjectId:
    case Control::kGetObjectId:
      co_return object_id(open, request);
    case Control::kGetCompression:
      if (request.max_output < sizeof(uint16_t))
        co_return ControlOutput::refusal(Status::kInvalidParameter);
      co_return output_of(smb::CompressionFormat());
    case Control::kSetCompression:
      co_return set_compression(open, request);
    default:
      co_return ControlOutput::refusal(Status::kInvalidDeviceRequest);
  }
}

}  // namespace kyanite::drive
