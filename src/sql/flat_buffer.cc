#include "sql/flat_buffer.h"

#include <algorithm>

namespace kyanite::sql {

void FlatBuffer::align(size_t size, size_t extra) {
  alignment_ = std::max(alignment_, size);
  while ((back_.size() + extra) % size != 0) back_ += '\0';
}

FlatBuffer::At FlatBuffer::string(std::string_view text) {
  align(4, text.size() + 1);
  back_ += '\0';
  back_.append(text.rbegin(), text.rend());
  put(static_cast<uint32_t>(text.size()));
  return here();
}

FlatBuffer::At FlatBuffer::vector(std::span<const At> tables) {
  align(4, tables.size() * 4);
  for (size_t i = tables.size(); i-- > 0;) put_reference(tables[i]);
  put(static_cast<uint32_t>(tables.size()));
  return here();
}

FlatBuffer::At FlatBuffer::structs(std::span<const Pair> pairs) {
  align(4, pairs.size() * 16);
  align(8, pairs.size() * 16);
  for (size_t i = pairs.size(); i-- > 0;) {
    put(pairs[i][1]);
    put(pairs[i][0]);
  }
  put(static_cast<uint32_t>(pairs.size()));
  return here();
}

void FlatBuffer::begin_table() {
  fields_.clear();
  table_start_ = back_.size();
}

void FlatBuffer::mark(size_t id) {
  if (fields_.size() <= id) fields_.resize(id + 1);
  fields_[id] = here();
}

void FlatBuffer::reference(size_t id, At to) {
  align(4, 0);
  put_reference(to);
  mark(id);
}

FlatBuffer::At FlatBuffer::end_table() {
  align(4, 0);
  put(uint32_t{0});  // The distance to the table of places, which is known below.
  const At table = here();
  for (size_t id = fields_.size(); id-- > 0;)
    put(static_cast<uint16_t>(fields_[id] == 0 ? 0 : table - fields_[id]));
  put(static_cast<uint16_t>(table - table_start_));
  put(static_cast<uint16_t>((fields_.size() + 2) * 2));
  const uint32_t distance = here() - table;
  for (size_t i = 0; i < 4; ++i)
    back_[table - 1 - i] = static_cast<char>(distance >> (8 * i) & 0xff);
  return table;
}

std::string FlatBuffer::finish(At root) {
  align(alignment_, 4);
  put_reference(root);
  return {back_.rbegin(), back_.rend()};
}

}  // namespace kyanite::sql
