#include "service/endpoints.h"

#include <gtest/gtest.h>

#include <string_view>

#include "service/service.h"

namespace kyanite::service {
namespace {

class NamedService final : public Service {
 public:
  explicit NamedService(wire::Service kind) : kind_(kind) {}
  wire::Service kind() const override { return kind_; }
  std::span<const Operation> operations() const override { return {}; }
  wire::Result<void> address(Call&, std::string_view) const override { return {}; }
  Task<wire::Result<auth::Acl>> acl(Call&) const override { co_return auth::Acl(); }

 private:
  const wire::Service kind_;
};

TEST(Endpoints, KnowThemselvesByNameAddressAndPort) {
  const NamedService blob(wire::Service::kBlob);
  const NamedService file(wire::Service::kFile);
  const auth::Accounts accounts({{"acme", {auth::Key("k")}}, {"other", {auth::Key("k")}}});
  Endpoints local;  // Listens on loopback only.
  local.add(blob, "127.0.0.1", 10000);
  local.add(file, "127.0.0.1", 10003);
  Endpoints any;  // Listens on all addresses.
  any.add(blob, "0.0.0.0", 10000);
  Endpoints lan;  // Listens on one address of a network.
  lan.add(blob, "192.168.1.5", 10000);

  const struct {
    const Endpoints& endpoints;
    std::string_view asked;  // the Host header
    std::string_view url;
    const Service* expected;
  } cases[] = {
      {local, "127.0.0.1:10000", "http://127.0.0.1:10000/acme/c/b", &blob},
      {local, "127.0.0.1:10000", "http://localhost:10000/acme/c/b", &blob},
      {local, "localhost:10000", "http://[::1]:10000/acme/c/b", &blob},
      {local, "localhost:10000", "http://acme.blob.localhost:10000/c/b", &blob},
      {local, "127.0.0.1:10000", "http://127.0.0.1:10003/acme/s/f", &file},
      {local, "127.0.0.1:10000", "http://127.0.0.1:10001/acme/q", nullptr},
      {local, "127.0.0.1:10000", "http://127.0.0.1:80/", nullptr},
      {local, "127.0.0.1:10000", "http://example:10000/acme/c/b", nullptr},
      {any, "192.168.1.5:10000", "http://192.168.1.5:10000/acme/c/b", &blob},
      {any, "192.168.1.5:10000", "http://localhost:10000/acme/c/b", &blob},
      {lan, "192.168.1.5:10000", "http://192.168.1.5:10000/acme/c/b", &blob},
      {lan, "192.168.1.5:10000", "http://127.0.0.1:10000/acme/c/b", nullptr},
      // By a name that only a proxy in front knows.
      {local, "storage.example", "http://storage.example/acme/c/b", &blob},
      {local, "storage.example", "http://STORAGE.example:80/acme/c/b", &blob},
      {local, "storage.example", "http://storage.example:81/acme/c/b", nullptr},
      {local, "acme.blob.example", "http://other.blob.example/c/b", &blob},
      {local, "acme.blob.example", "http://other-secondary.blob.example/c/b", &blob},
      // Other sites of the same domain are other servers.
      {local, "acme.blob.example", "http://www.blob.example/c/b", nullptr},
      // What our accounts would be called in Azure, by service; all else there is another server.
      {local, "acme.blob.example", "https://acme.blob.core.windows.net/c/b", &blob},
      {local, "127.0.0.1:10000", "http://other-secondary.blob.core.windows.net/c/b", &blob},
      {local, "127.0.0.1:10000", "https://acme.file.core.windows.net/s/f", &file},
      {any, "127.0.0.1:10000", "https://acme.file.core.windows.net/s/f", nullptr},
      {local, "127.0.0.1:10000", "https://acme.core.windows.net/s/f", nullptr},
      {local, "127.0.0.1:10000", "https://acme.blob.core.windows.net:10000/c/b", nullptr},
      {local, "127.0.0.1:10000", "https://stranger.blob.core.windows.net/c/b", nullptr},
      {local, "127.0.0.1:10000", "https://acme.blob.core.windows.net.example/c/b", nullptr},
      {local, "acme.blob.example:81", "http://other.blob.example/c/b", nullptr},
      {local, "", "http://storage.example/acme/c/b", nullptr},
  };
  for (const auto& each : cases) {
    const auto url = http::parse_url(each.url);
    ASSERT_TRUE(url) << each.url;
    EXPECT_EQ(each.endpoints.find(*url, blob, each.asked, false, accounts), each.expected)
        << each.asked << " " << each.url;
  }
}

}  // namespace
}  // namespace kyanite::service
