// One request of the client (net/client.h) and the reply to it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/task.h"
#include "http/fetch.h"
#include "http/reply_head.h"
#include "net/connection.h"
#include "net/inbox.h"
#include "net/request_body.h"

namespace kyanite::net {

template <class T>
using Fetch = Result<T, http::FetchError>;

// What is asked, beside where and with which headers.
struct Asked {
  std::string_view method = "GET";
  std::optional<std::string_view> body;
};

std::string request_head(const Asked& asked, const http::Url& url,
                         const http::Fetcher::Lines& headers,
                         const http::Fetcher::Lines& credentials);

// One connection with the reply that comes over it. Lives on the client's loop.
struct ClientExchange {
  ClientExchange(Shard& shard, Descriptor socket, std::string peer, ssl_st* tls, int64_t until_ms)
      : connection(shard, std::move(socket), std::move(peer), tls), deadline_ms(until_ms) {}

  Task<Fetch<void>> send(std::string_view request, std::string_view sent_body);
  Task<Fetch<void>> receive_head();
  Task<Fetch<Buffer>> next();
  http::FetchError failed(http::FetchError::Kind kind, std::string what) const;

  Connection connection;
  const int64_t deadline_ms;
  bool late = false;     // Cut because the deadline has passed.
  bool stopped = false;  // Cut because the client stops.
  Inbox inbox;
  std::string head_text;
  http::ReplyHead head;
  std::optional<RequestBody> body;
  bool ended = false;
};

}  // namespace kyanite::net
