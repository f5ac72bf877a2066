// A page of a long listing, written in parts and sent meanwhile: writing it takes as long as
// sending it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "service/call.h"
#include "store/store.h"
#include "transfer/listing.h"
#include "wire/error.h"
#include "wire/xml.h"

namespace kyanite::transfer {

// How far a page has come.
struct Progress {
  std::string next;  // The entry that follows, in the words of who writes them; "" at the first.
  uint64_t entries = 0;  // Those written.
  bool ended = false;    // Nothing follows on this page; on the next one `next` does, "" if none.
  std::string next_marker() const { return next.empty() ? "" : write_marker(next); }
};

// Where a part of a page is written.
struct Part {
  const store::View& view;
  wire::XmlWriter& xml;
  size_t bytes;  // As many as are to be written before something is sent.
  // The part ends as soon as the entry behind it is known; but not without any.
  bool is_enough() const { return view.enough() || xml.bytes() >= bytes; }
};

class Document {
 public:
  virtual ~Document() = default;
  virtual void open(wire::XmlWriter& xml) const = 0;
  // Writes entries from `from` on. What it wrote may be dropped and the same part asked for again.
  virtual store::Result<Progress> write_entries(const Part& part, const Progress& from) const = 0;
  virtual void close(wire::XmlWriter& xml, const Progress& end) const = 0;
};

// All parts are of one snapshot. They are written here, unless they have to wait for the disk or
// others wait for this thread, else by threads for scans, in turn with other requests. Up to the
// length of a chunk a document is answered as a whole, and an error as an error. A longer one is
// sent in chunks, one part after the other; an error then cuts the connection, as it does in the
// middle of a blob.
Task<wire::Result<http::Reply>> reply_with_document(service::Call& call,
                                                    std::unique_ptr<const Document> document);

}  // namespace kyanite::transfer
