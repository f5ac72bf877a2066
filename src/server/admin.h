// The admin listener: is the server well (/healthz), what has it done (/metrics, in Prometheus's
// text format), and what does it do that no request waits for (/jobs, for people). No accounts, no
// data. Others may add pages of theirs.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "http/message.h"

namespace kyanite::server {

// Appends complete lines in Prometheus's text format. Called on an event loop: must not block.
using MetricsSource = std::function<void(std::string& out)>;

// Nothing when all is well, else what is wrong, in a sentence.
using HealthCheck = std::function<Task<std::optional<std::string>>()>;

// The text of /jobs. Called on an event loop, too.
using JobsPage = std::function<std::string()>;

// One page, always the same.
class TextPage final : public http::Handler {
 public:
  explicit TextPage(std::string text) : text_(std::move(text)) {}
  Task<http::Reply> serve(http::Request& request) override;

 private:
  const std::string text_;
};

class Admin final : public http::Handler {
 public:
  Admin(HealthCheck health, std::vector<MetricsSource> metrics, JobsPage jobs)
      : health_(std::move(health)), metrics_(std::move(metrics)), jobs_(std::move(jobs)) {}

  // Another answers at this path, whatever the method. Before the first request.
  void add(std::string_view path, http::Handler& handler) { others_.emplace(path, &handler); }

  Task<http::Reply> serve(http::Request& request) override;

 private:
  Task<http::Reply> answer(std::string_view path) const;

  HealthCheck health_;
  std::vector<MetricsSource> metrics_;
  JobsPage jobs_;
  std::map<std::string, http::Handler*, std::less<>> others_;
};

}  // namespace kyanite::server
