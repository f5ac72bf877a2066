// The front of one service: http::Handler from the outside, one straight line (serve.cc) inside.
#pragma once

#include <memory>
#include <string>

#include "front/metrics.h"
#include "front/request_log.h"
#include "http/message.h"
#include "service/call.h"
#include "service/service.h"

namespace kyanite::front {

class Front final : public http::Handler, public service::PartServer {
 public:
  // All references must outlive the Front.
  Front(const service::Service& service, service::Context& context, RequestLog& log,
        Metrics& metrics)
      : service_(service), context_(context), log_(log), metrics_(metrics) {}

  Task<http::Reply> serve(http::Request& request) override { return serve_part(request, {}); }
  Task<http::Reply> serve_part(http::Request& request, std::string_view version) override;

 private:
  // The steps of a request; see serve.cc.
  Task<wire::Result<http::Reply>> answer(service::Call& call);
  Task<wire::Result<void>> choose_version(service::Call& call);
  Task<void> finish(service::Call& call, http::Reply& reply);

  const service::Service& service_;
  service::Context& context_;
  RequestLog& log_;
  Metrics& metrics_;
};

}  // namespace kyanite::front
