// A reply that is sent while it is still being written: writing a page of a long listing takes as
// long as sending it.
#pragma once

#include <functional>

#include "service/call.h"
#include "store/store.h"
#include "wire/error.h"
#include "wire/xml.h"

namespace kyanite::service {

// Writes a document over one snapshot, on a thread that may block. It can still run when the
// request that asked for it has ended, so it owns whatever it uses.
using WriteDocument = std::function<store::Result<void>(const store::View&, wire::XmlWriter&)>;

// Up to the length of a chunk a document is answered as a whole, and an error as an error. A longer
// one is sent in chunks while the rest is written; an error then cuts the connection, as it does in
// the middle of a blob.
Task<wire::Result<http::Reply>> reply_with_document(Call& call, WriteDocument write);

}  // namespace kyanite::service
