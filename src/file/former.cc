#include "file/former.h"

#include <vector>

#include "content/graves.h"
#include "file/records.h"
#include "lifetime/directory.h"
#include "store/fields.h"
#include "tree/former.h"

namespace kyanite::file {

namespace {

Task<store::Result<std::vector<store::SpaceId>>> list_spaces(store::Store& store,
                                                             std::string_view account) {
  std::vector<store::SpaceId> spaces;
  const auto range =
      store::Range::family(lifetime::directory_space(account), lifetime::kSharesFamily);
  const store::See see = [&](const store::View::Cursor& cursor) -> store::Result<bool> {
    auto record = cursor.record();
    if (!record) return record.error();
    const auto share = store::decode<Share>((*record)->value);
    if (!share) return store::Error::kCorrupt;
    spaces.push_back(share->space);
    return true;
  };
  auto listed = co_await store::scan(store, range, see);
  if (!listed) co_return listed.error();
  co_return std::move(spaces);
}

}  // namespace

Task<store::Result<void>> purge_former(store::Store& store, std::string_view account, uint64_t most,
                                       Time now) {
  auto spaces = co_await list_spaces(store, account);
  if (!spaces) co_return spaces.error();
  for (const auto space : *spaces) {
    if (auto purged = co_await tree::purge_former(store, space, most); !purged)
      co_return purged.error();
    auto cleared = co_await content::clear_graves(store, space, most, now);
    if (!cleared) co_return cleared.error();
  }
  co_return store::Result<void>();
}

}  // namespace kyanite::file
