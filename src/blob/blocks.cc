#include "blob/blocks.h"

#include <memory>
#include <utility>

#include "base/bytes.h"
#include "base/random.h"
#include "blob/records.h"
#include "service/storage.h"
#include "store/fields.h"

namespace kyanite::blob {

store::RecordPtr to_record(const Block& block, const content::Pieces& pieces) {
  auto record = std::make_shared<store::SharedRecord>();
  content::encode_pieces(pieces, *record);
  Block stored = block;
  stored.pieces = std::move(record->value);
  record->value = store::encode(stored);
  return record;
}

std::optional<content::Pieces> pieces_of(const Block& block, const store::Record& record) {
  return content::decode_pieces({block.pieces, record.refs});
}

store::RecordPtr spent_mark(uint64_t id_bytes) {
  return service::to_record(BlocksMark{id_bytes, {}, random_u64() | 1});
}

bool is_blocks_mark(std::string_view key) {
  if (key[8] != kBlocks) return false;
  std::string blob;
  return store::split_key(key, blob) == kBlocksMark;
}

store::Key block_key(const Place& place, std::string_view block_id) {
  return store::Key(place.space(), kBlocks, place.named(), block_id);
}

store::Range block_rows(const Place& place) {
  return store::Range::rows(place.space(), kBlocks, place.named());
}

store::Key block_list_key(const content::Place& place, uint64_t content_id) {
  std::string row;
  append_be64(row, content_id);
  return store::Key(place.space, kBlockLists, place.partition, row);
}

}  // namespace kyanite::blob
