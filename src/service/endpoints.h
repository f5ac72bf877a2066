// Where this server itself can be reached: a copy from one of these places never goes through a
// socket.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "auth/account.h"
#include "http/url.h"

namespace kyanite::service {

class Service;

class Endpoints {
 public:
  // `host` is what the listener was told to listen on: an address or a name.
  void add(const Service& service, std::string host, uint16_t port);

  // The service that answers at the URL, seen from a request to `asked` (its Host header) which
  // `own` serves; null for other servers. A host that differs from the asked one in its first label
  // only counts when that label is an account of this server. The names that such an account would
  // have in Azure ("account.blob.core.windows.net") are ours: clients make copy sources of them
  // whatever endpoint they were given.
  const Service* find(const http::Url& url, const Service& own, std::string_view asked,
                      bool asked_secure, const auth::Accounts& accounts) const;

 private:
  struct Endpoint {
    const Service* service;
    std::string host;
    uint16_t port;
  };
  std::vector<Endpoint> endpoints_;
};

}  // namespace kyanite::service
