// An object with content in a store of its own, for the tests of this folder.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/executor.h"
#include "content/content.h"
#include "store/memory.h"
#include "store/test_support.h"

namespace kyanite::content {

using store::pattern;

inline constexpr Place kPlace{7, "blob"};
inline const store::Key kHeadKey(kPlace.space, 'H', kPlace.partition);

// A store with one object in it: its content, and the head record that names it.
struct Object {
  store::MemoryStore store;
  Content content;
  store::Guard head{kHeadKey, nullptr};
  CipherPtr cipher;  // for reading
  int versions = 0;

  // Makes `next` the content, in one commit with its leaves.
  void save(store::Commit commit, const Content& next) {
    head.expected = store::record_of("version " + std::to_string(++versions));
    commit.put(kHeadKey, head.expected);
    EXPECT_TRUE(RunLoop::run(store.commit(std::move(commit))).ok());
    content = next;
  }
  void save(const Pieces& pieces) {
    store::Commit commit;
    const Content next = put(commit, kPlace, pieces);
    EXPECT_EQ(commit.writes.size(), next.leaves);
    save(std::move(commit), next);
  }
  void save_sparse(uint64_t length) { save({}, Content{.length = length, .sparse = true}); }
  void overwrite(uint64_t offset, uint64_t length, const Pieces& pieces) {
    store::Commit commit;
    Content next = content;
    const auto done =
        RunLoop::run(content::overwrite(store, commit, kPlace, next, offset, length, pieces));
    EXPECT_TRUE(done.ok());
    save(std::move(commit), next);
  }

  store::Result<std::unique_ptr<Reader>> open(uint64_t offset, uint64_t length) {
    return RunLoop::run(Reader::open(store, kPlace, content, offset, length, head, cipher));
  }
  std::string read(uint64_t offset, uint64_t length);
  std::string read() { return read(0, content.length); }
};

inline Pieces write(store::Store& store, const std::vector<std::string>& chunks,
                    CipherPtr cipher = nullptr) {
  Writer writer(store, std::move(cipher));
  for (const auto& chunk : chunks)
    EXPECT_TRUE(RunLoop::run(writer.add(Buffer::copy_of(chunk))).ok());
  auto pieces = RunLoop::run(writer.finish());
  EXPECT_TRUE(pieces.ok());
  return std::move(*pieces);
}

inline Pieces write_together(store::Store& store, const std::vector<std::string>& chunks) {
  Writer writer(store);
  std::vector<Buffer> buffers;
  for (const auto& chunk : chunks) buffers.push_back(Buffer::copy_of(chunk));
  EXPECT_TRUE(RunLoop::run(writer.add_all(std::move(buffers))).ok());
  auto pieces = RunLoop::run(writer.finish());
  EXPECT_TRUE(pieces.ok());
  return std::move(*pieces);
}

inline store::Result<std::string> drain(Reader& reader) {
  std::string out;
  while (true) {
    auto bytes = RunLoop::run(reader.next(false));
    if (!bytes) return bytes.error();
    const std::string text = store::text_of(*bytes);
    if (text.empty()) return out;
    out += text;
  }
}

inline std::string Object::read(uint64_t offset, uint64_t length) {
  auto reader = open(offset, length);
  EXPECT_TRUE(reader.ok());
  auto bytes = drain(**reader);
  EXPECT_TRUE(bytes.ok());
  return bytes.ok() ? *bytes : std::string();
}

// How many records the content family holds.
inline size_t count_leaves(store::Store& store) {
  size_t count = 0;
  const auto looked = RunLoop::run(store.look([&](const store::View& view) -> store::Result<void> {
    auto cursor = view.scan(store::Range::family(kPlace.space, kContentFamily));
    for (; cursor->valid(); cursor->next()) ++count;
    return cursor->status();
  }));
  EXPECT_TRUE(looked.ok());
  return count;
}

inline Piece inline_piece(uint64_t offset, std::string bytes) {
  Piece piece;
  piece.offset = offset;
  piece.length = static_cast<uint32_t>(bytes.size());
  piece.inline_bytes = std::move(bytes);
  return piece;
}

// `count` pieces, inline ones and parts of runs by turns, and the bytes they stand for.
inline Pieces many_pieces(store::Store& store, size_t count, std::string& bytes) {
  Pieces pieces;
  bytes.clear();
  for (size_t i = 0; i < count; ++i) {
    const std::string run = pattern(5 + i % 3, i);
    if (i % 2 == 0) {
      pieces.push_back(inline_piece(bytes.size(), run));
      bytes += run;
      continue;
    }
    auto ref = RunLoop::run(store.append(Buffer::copy_of(run)));
    EXPECT_TRUE(ref.ok());
    Piece piece;
    piece.offset = bytes.size();
    piece.skip = 1;
    piece.length = static_cast<uint32_t>(run.size() - 2);
    piece.ref = *ref;
    pieces.push_back(piece);
    bytes += run.substr(1, run.size() - 2);
  }
  return pieces;
}

}  // namespace kyanite::content
