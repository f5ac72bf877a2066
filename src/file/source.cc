#include "file/source.h"

#include "file/handlers.h"
#include "headers/copy_state.h"
#include "service/service.h"

namespace kyanite::file {

using auth::Caller;
using service::Call;
using wire::Code;

namespace {

bool is_trusted(const Call& outer, const Call& source, SourceTrust trust) {
  return trust == SourceTrust::kAccount && source.target.account == outer.target.account &&
         (outer.caller.kind == Caller::Kind::kOwner ||
          outer.caller.kind == Caller::Kind::kBearer) &&
         !source.query.has("sig") && !source.headers().has("Authorization");
}

Task<wire::Result<void>> find_local(const Call& outer, Source& source, SourceTrust trust,
                                    const std::optional<headers::ByteRange>& range, bool& trusted) {
  Call& call = source.call->call();
  if (auto resolved = transfer::resolve_source(call); !resolved) co_return resolved.error();
  trusted = is_trusted(outer, call, trust);
  if (auto admitted = co_await transfer::authorize_source(outer, call, trusted); !admitted)
    co_return admitted.error();
  if (call.service == outer.service) {
    auto file = co_await find_source_file(call, range);
    if (!file) co_return file.error();
    source.object = source_object(*file);
    source.file.emplace(std::move(*file));
    co_return wire::Result<void>();
  }
  auto object = co_await transfer::find_source(call, range);
  if (!object) co_return object.error();
  source.object = std::move(*object);
  co_return wire::Result<void>();
}

}  // namespace

Task<wire::Result<Located>> find_source_file(Call& call,
                                             const std::optional<headers::ByteRange>& range) {
  // Nothing else: other operations take other permissions.
  if (call.operation->run != get_file) co_return wire::Error(Code::kInvalidSourceUri);
  auto located = co_await read_content(call, range);
  if (!located) co_return located.error();
  if (located->found.entry->copy.status == headers::CopyStatus::kPending)
    co_return wire::Error(Code::kPendingCopyOperation);
  co_return std::move(*located);
}

transfer::SourceObject source_object(const Located& file) {
  const Entry& entry = *file.found.entry;
  return {file.tree.space, std::string(kSharePartition),
          entry.content,   file.found.guard(),
          entry.changed,   entry.http,
          entry.metadata};
}

wire::Error source_error(const wire::Error& own) {
  return wire::Error(Code::kCannotVerifyCopySource, own.status).saying(own.message);
}

Task<wire::Result<Source>> open_source(Call& call, SourceTrust trust,
                                       const std::optional<headers::ByteRange>& range) {
  auto url = transfer::decode_source_url(call);
  if (!url) co_return url.error();
  if (auto dots = decode_flag(call, kSourceDots); !dots) co_return dots.error();
  Source source;
  source.url = transfer::without_signature(call.headers().get("x-ms-copy-source"));
  const auto* service = call.context.endpoints.find(*url, *call.service, call.headers().get("Host"),
                                                    call.request.secure, call.context.accounts);
  if (service != nullptr) {
    source.call = std::make_unique<transfer::SourceCall>(call, *url, *service);
    bool trusted = false;
    auto found = co_await find_local(call, source, trust, range, trusted);
    // Whoever may read the source anyway is told what is wrong with it in its own words.
    if (!found) co_return trusted ? found.error() : source_error(found.error());
    co_return std::move(source);
  }
  auto fetched =
      co_await transfer::fetch_source(call, *url, range, {}, trust == SourceTrust::kNone);
  if (!fetched) co_return fetched.error();
  const int status = (*fetched)->status();
  if (status != 200 && status != 206) {
    co_return wire::Error(Code::kCannotVerifyCopySource,
                          status >= 400 && status < 500 ? status : 500);
  }
  source.fetched = std::move(*fetched);
  co_return std::move(source);
}

}  // namespace kyanite::file
