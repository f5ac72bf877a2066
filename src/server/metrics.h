// What the process and its connections report on /metrics, in Prometheus's text format.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "drive/drive.h"
#include "engine/metrics.h"
#include "jobs/schedule.h"
#include "net/client.h"
#include "net/server.h"

namespace kyanite::server {

enum class MetricKind { kCounter, kGauge };
void append_metric(std::string& out, std::string_view name, MetricKind kind,
                   std::string_view value);
void append_metric(std::string& out, std::string_view name, MetricKind kind, uint64_t value);
void append_metric(std::string& out, std::string_view name, MetricKind kind, double value);

// Memory, CPU time, open files and start time of this process, named as Prometheus's own clients
// do.
void append_process_metrics(std::string& out);

void append_net_metrics(std::string& out, const net::Metrics& metrics);
void append_client_metrics(std::string& out, const net::ClientMetrics& metrics);
// Of a listener's certificate; null: plain HTTP.
void append_certificate_metric(std::string& out, const net::TlsContext* tls);
void append_engine_metrics(std::string& out, const engine::Metrics& metrics);
void append_smb_metrics(std::string& out, const drive::Drive& drive);
void append_job_metrics(std::string& out, const std::vector<jobs::Status>& jobs);

}  // namespace kyanite::server
