// The admin listener: is the server well (/healthz), and what has it done (/metrics, in
// Prometheus's text format). No accounts, no data.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "http/message.h"

namespace kyanite::server {

// Appends complete lines in Prometheus's text format. Called on an event loop: must not block.
using MetricsSource = std::function<void(std::string& out)>;

// Nothing when all is well, else what is wrong, in a sentence.
using HealthCheck = std::function<Task<std::optional<std::string>>()>;

class Admin final : public http::Handler {
 public:
  Admin(HealthCheck health, std::vector<MetricsSource> metrics)
      : health_(std::move(health)), metrics_(std::move(metrics)) {}

  Task<http::Reply> serve(http::Request& request) override;

 private:
  Task<http::Reply> answer(std::string_view path) const;

  HealthCheck health_;
  std::vector<MetricsSource> metrics_;
};

}  // namespace kyanite::server
