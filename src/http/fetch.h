// Reading from other servers. Whoever needs it is given a Fetcher; net/client.h is the one that
// opens sockets.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/buffer.h"
#include "base/result.h"
#include "base/task.h"
#include "http/message.h"
#include "http/url.h"

namespace kyanite::http {

// Why nothing came, or nothing more.
struct FetchError {
  enum Kind {
    kForbidden,    // The address may not be reached from here.
    kUnknownHost,  // There is no such host.
    kUnreachable,  // It cannot be connected to, or its certificate does not convince.
    kTimeout,      // It took too long.
    kBadReply,     // It does not speak HTTP properly, or leads in circles.
    kCutShort,     // The reply ended before its end.
    kBusy,         // This server stops, or fetches too much already: later.
  };
  Kind kind;
  std::string what;  // A sentence for people.
};

// A reply being received. It may be dropped at any time; the rest is then never received.
class Fetched {
 public:
  virtual ~Fetched() = default;
  virtual int status() const = 0;
  virtual const Headers& headers() const = 0;  // They live as long as this.
  // Of the body, when the reply says so.
  virtual std::optional<uint64_t> length() const = 0;
  // The next bytes of the body, at most kChunkBytes; an empty Buffer at the end.
  virtual Task<Result<Buffer, FetchError>> next() = 0;
};

class Fetcher {
 public:
  using Lines = std::vector<std::pair<std::string, std::string>>;
  virtual ~Fetcher() = default;
  // Sends GET with these headers beside the usual ones and follows redirects. Headers go with every
  // hop, those in `credentials` only to the URL's own origin and only over TLS. What there is to
  // share is shared between accounts. May be called on any thread; resumes the caller's executor.
  virtual Task<Result<std::unique_ptr<Fetched>, FetchError>> get(Url url, Lines headers,
                                                                 Lines credentials,
                                                                 std::string account) = 0;
};

}  // namespace kyanite::http
