// Replies to changes of entities, for single operations and for the parts of a transaction alike.
#pragma once

#include "http/message.h"
#include "service/call.h"
#include "table/change.h"
#include "table/json_entity.h"
#include "wire/error.h"

namespace kyanite::table {

// What the request wants back, decoded before anything is changed.
struct Wanted {
  Metadata metadata = Metadata::kMinimal;
  bool content = false;  // 201 with the entity instead of 204; inserts only
};
wire::Result<Wanted> decode_wanted(const service::Call& call, Verb verb);

// `table` is the name as the client wrote it.
http::Reply change_reply(const service::Call& call, const Wanted& wanted, const Change& change,
                         const Changed& changed);

// Decodes the request's body, makes the one change and answers.
Task<wire::Result<http::Reply>> change_entity(service::Call& call, Verb verb);

}  // namespace kyanite::table
