// QUERY_DIRECTORY: the entries of a directory, in portions of any size.
#include <utility>

#include "drive/commands.h"
#include "drive/connection.h"
#include "drive/file_facts.h"
#include "drive/file_status.h"
#include "smb/directory.h"
#include "smb/query.h"
#include "smb/wildcard.h"

namespace kyanite::drive {

namespace {

using smb::Status;
namespace flag = smb::query_directory_flag;

constexpr std::string_view kDots[] = {".", ".."};

// The beginning that all names have which a pattern can match.
std::string literal_prefix(std::string_view pattern) {
  return std::string(pattern.substr(0, pattern.find_first_of("*?<>\".")));
}

// What is asked for from now on; false for what is no pattern.
bool take_pattern(const tree::NameRules& rules, std::string_view asked, Listing& listing) {
  const std::string folded = tree::stored_name(rules, asked.empty() ? "*" : asked);
  if (folded.find_first_of("\\/") != std::string::npos) return false;
  auto pattern = smb::Wildcard::parse(folded);
  if (!pattern) return false;
  listing.prefix = literal_prefix(folded);
  listing.pattern = std::move(pattern);
  return true;
}

// Entries of one reply.
class Page {
 public:
  Page(const smb::QueryDirectoryRequest& request, std::string& output)
      : writer_(output, request.info_class, request.output_length),
        single_((request.flags & flag::kSingle) != 0) {}

  // False when there is no room for it.
  bool add(const smb::DirectoryEntry& entry) {
    if (single_ && count_ == 1) return false;
    if (!writer_.add(entry)) {
      overflowed_ = true;
      return false;
    }
    ++count_;
    return true;
  }
  size_t count() const { return count_; }
  // Not even one entry found room.
  bool is_too_small() const { return overflowed_ && count_ == 0; }
  bool is_full() const { return overflowed_ || (single_ && count_ == 1); }

 private:
  smb::DirectoryWriter writer_;
  const bool single_;
  size_t count_ = 0;
  bool overflowed_ = false;
};

// How far an open has come is used by one request at a time, which may be in another thread.
store::KeyedLocks::Locking lock_listing(const Exchange& exchange, const Open& open) {
  return exchange.connection.drive().listings.lock(std::to_string(exchange.session->id()) + "/" +
                                                   std::to_string(open.id.volatile_id));
}

Task<tree::Result<void>> fill(Exchange& exchange, Open& open, Page& page) {
  Listing& listing = open.listing;
  while (listing.dots < std::size(kDots)) {
    const std::string_view name = kDots[listing.dots];
    if (listing.pattern->matches(name)) {
      auto state = co_await tree::state_of(exchange.occasion, open.file);
      if (!state) co_return state.error();
      smb::DirectoryEntry entry = directory_entry(*state, std::string(name));
      if (listing.dots == 1) entry.file_id = file_id_of(open.file.parent);
      if (!page.add(entry)) co_return tree::Result<void>();
    }
    ++listing.dots;
  }
  if (page.is_full()) co_return tree::Result<void>();
  const tree::DirectoryCursor::Match match = [&](std::string_view folded) {
    return listing.pattern->matches(folded);
  };
  const tree::DirectoryCursor::Take take = [&](const tree::Entry& entry) {
    return page.add(directory_entry(entry, entry.name));
  };
  using Effort = tree::DirectoryCursor::Effort;
  const Effort effort = listing.pattern->is_costly() ? Effort::kMuch : Effort::kLittle;
  co_return co_await listing.cursor.go_on(exchange.occasion, open.file, listing.prefix, match, take,
                                          effort);
}

}  // namespace

Task<Reply> query_directory(Exchange& exchange) {
  const auto request = smb::decode<smb::QueryDirectoryRequest>(exchange.message);
  if (!request) co_return refuse(exchange, request.error());
  const auto open = exchange.find_open(request->file);
  if (open == nullptr) co_return refuse(exchange, Status::kFileClosed);
  if (!smb::is_directory_class(request->info_class))
    co_return refuse(exchange, Status::kInvalidInfoClass);
  if (!open->file.directory) co_return refuse(exchange, Status::kInvalidParameter);
  if (!open->has(smb::access::kReadData)) co_return refuse(exchange, Status::kAccessDenied);
  const auto turn = co_await lock_listing(exchange, *open);
  Listing& listing = open->listing;
  const bool reopens = (request->flags & flag::kReopen) != 0;
  const bool restarts = reopens || (request->flags & flag::kRestart) != 0;
  if (restarts) listing.restart();
  if (reopens) listing.told_any = false;
  if (!listing.pattern || reopens || (restarts && !request->pattern.empty())) {
    if (!take_pattern(open->file.tree.names, request->pattern, listing))
      co_return refuse(exchange, Status::kObjectNameInvalid);
  }
  std::string output;
  Page page(*request, output);
  auto filled = co_await fill(exchange, *open, page);
  if (!filled) co_return refuse(exchange, drive::status_of(filled.error()));
  if (page.is_too_small()) co_return refuse(exchange, Status::kInfoLengthMismatch);
  if (page.count() == 0) {
    co_return refuse(exchange, listing.told_any ? Status::kNoMoreFiles : Status::kNoSuchFile);
  }
  listing.told_any = true;
  smb::OutputReply body;
  body.output = output;
  co_return reply(exchange, body);
}

}  // namespace kyanite::drive
