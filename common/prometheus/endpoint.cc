#include "common/prometheus/endpoint.h"

#include <arpa/inet.h>
#include <prometheus/exposer.h>
#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "common/dpdk/eal/control_thread.h"
#include "common/dpdk/eal/error.h"

namespace outrider {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using Labels = std::vector<ClientMetric::Label>;

MetricFamily make_family(std::string name, const Figure& figure) {
  const bool grows = figure.kind == Figure::Kind::kCounter;
  return {std::move(name), figure.help, grows ? MetricType::Counter : MetricType::Gauge, {}};
}

bool shown_in_seconds(const MetricRecord& record, const Figure& figure) {
  return record.in_seconds && figure.unit == std::string_view("ns");
}

std::string series_of(const MetricRecord& record, const FigureValue& v) {
  const Figure& f = v.figure;
  const std::string part = v.part.empty() ? "" : std::string(v.part) + '_';
  std::string name = record.prefix + part + (f.exported != nullptr ? f.exported : f.field);
  if (shown_in_seconds(record, f)) {
    if (name.ends_with("_ns")) name.resize(name.size() - 3);
    name += "_seconds";
  }
  return name + (f.kind == Figure::Kind::kCounter ? "_total" : "");
}

/// Appends a value for each figure to the family of its name.
void add(std::vector<MetricFamily>& all, const MetricRecord& record) {
  Labels labels;
  for (const auto& [name, value] : record.labels) labels.push_back({name, value});
  for (const FigureValue& v : record.figures) {
    std::string name = series_of(record, v);
    auto family = std::ranges::find(all, name, &MetricFamily::name);
    if (family == all.end()) family = all.insert(all.end(), make_family(std::move(name), v.figure));
    ClientMetric metric;
    metric.label = labels;
    if (!v.traffic_class.empty()) metric.label.push_back({"class", std::string(v.traffic_class)});
    if (!v.reason.empty()) metric.label.push_back({"reason", std::string(v.reason)});
    auto number = static_cast<double>(v.value);
    if (shown_in_seconds(record, v.figure)) number /= 1e9;
    if (family->type == MetricType::Counter) metric.counter.value = number;
    else metric.gauge.value = number;
    family->metric.push_back(std::move(metric));
  }
}

std::vector<MetricFamily> families_of(const std::vector<MetricRecord>& records) {
  std::vector<MetricFamily> all;
  for (const MetricRecord& record : records) add(all, record);
  return all;
}

/// Connections that are served at once. The library gives each a thread, which costs little
/// while it waits.
constexpr int kConnections = 32;
/// A connection whose request is not complete by then is closed, and leaves its place to the next.
constexpr std::chrono::milliseconds kRequestTimeout{2000};

class Source final : public prometheus::Collectable {
 public:
  explicit Source(PrometheusEndpoint::Read read) : read_(std::move(read)) {}
  std::vector<MetricFamily> Collect() const override { return families_of(read_()); }

 private:
  PrometheusEndpoint::Read read_;
};

/// Tries to listen on the address and stops again, because the library does not say why it
/// failed. @throws EnvironmentError with the reason
void try_to_listen(const std::string& address) {
  const auto colon = address.rfind(':');
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<std::uint16_t>(std::stoi(address.substr(colon + 1))));
  inet_pton(AF_INET, address.substr(0, colon).c_str(), &to.sin_addr);
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int reuse = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &reuse, sizeof reuse);
  const bool bound =
      bind(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0 && listen(fd, 1) == 0;
  const int error = errno;
  close(fd);
  if (!bound)
    throw EnvironmentError("telemetry.prometheus: cannot listen on " + address + ": " +
                           std::strerror(error) +
                           ". Stop the process that uses the port, or choose another address.");
}

}  // namespace

struct PrometheusEndpoint::Parts {
  std::shared_ptr<prometheus::Collectable> source;
  std::unique_ptr<prometheus::Exposer> exposer;
};

std::string to_prometheus(const std::vector<MetricRecord>& records) {
  return prometheus::TextSerializer().Serialize(families_of(records));
}

PrometheusEndpoint::PrometheusEndpoint(const std::string& address, Read read)
    : parts_(std::make_unique<Parts>()) {
  try_to_listen(address);
  parts_->source = std::make_shared<Source>(std::move(read));
  // The library's threads inherit the CPUs of the thread that makes them.
  on_control_cpus("prometheus", [&] {
    parts_->exposer = std::make_unique<prometheus::Exposer>(std::vector<std::string>{
        "listening_ports", address, "num_threads", std::to_string(kConnections),
        "request_timeout_ms", std::to_string(kRequestTimeout.count())});
    parts_->exposer->RegisterCollectable(parts_->source);
  });
}

PrometheusEndpoint::~PrometheusEndpoint() = default;

}  // namespace outrider
