#include "switch/control/prometheus.h"

#include <arpa/inet.h>
#include <prometheus/exposer.h>
#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <sstream>

#include "common/dpdk/control_thread.h"
#include "common/dpdk/error.h"
#include "switch/report/report_json.h"

namespace outrider {
namespace {

using Json = nlohmann::json;
using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using Labels = std::vector<ClientMetric::Label>;

struct Metric {
  const char* field;  ///< of the report
  const char* name;   ///< after the prefix
  MetricType type;
  const char* help;
};

constexpr auto kCounter = MetricType::Counter;
constexpr auto kGauge = MetricType::Gauge;

constexpr Metric kSwitchMetrics[] = {
    {"received", "received_packets_total", kCounter, "Packets handed to any switch"},
    {"copied", "copied_packets_total", kCounter, "Copies made by flooding"},
    {"transmitted", "transmitted_packets_total", kCounter, "Packets that devices have taken"},
    {"resident", "resident_packets", kGauge, "Packets that wait in queues"},
    {"on_links", "on_links_packets", kGauge, "Packets in service or on emulated links"},
    {"signals_bad_code", "signals_bad_code_total", kCounter, "STARTs with threshold code zero"},
    {"signals_not_accepted", "signals_not_accepted_total", kCounter,
     "Signals from where none is accepted"},
    {"signals_over_rate", "signals_over_rate_total", kCounter,
     "Signals beyond their source's token bucket"},
    {"device_rx_missed", "device_rx_missed_packets_total", kCounter,
     "Packets that devices lost before the switch"},
    {"device_rx_nombuf", "device_rx_nombuf_packets_total", kCounter,
     "Packets that devices lost for want of a buffer"},
    {"longest_poll_gap_ns", "longest_poll_gap_ns", kGauge, "Longest time between two polls"},
    {"busy_ns", "busy_ns_total", kCounter, "Time in polls that found packets, all lcores"},
    {"ledger_balanced", "ledger_balanced", kGauge, "1: each queue accounts for its packets"},
};

constexpr Metric kQueueMetrics[] = {
    {"drain_bits_per_second", "drain_bits_per_second", kGauge, "Rate of the port"},
    {"initial_threshold_packets", "initial_threshold_packets", kGauge, "The marker's threshold"},
    {"background_threshold_packets", "background_threshold_packets", kGauge,
     "Occupancy from which background is marked now"},
    {"arrived", "arrived_packets_total", kCounter, "Packets that came to the queue"},
    {"transmitted", "packets_total", kCounter, "Packets transmitted"},
    {"transmitted_bytes", "bytes_total", kCounter, "Bytes of frames transmitted, without FCS"},
    {"resident", "resident_packets", kGauge, "Packets that wait, held ones included"},
    {"resident_bytes", "resident_bytes", kGauge, "Bytes that wait"},
    {"held_packets", "held_packets", kGauge, "Packets that pacing holds before the queue"},
    {"hop_records", "hop_records_total", kCounter, "Hop records written into probes"},
    {"hop_records_no_room", "hop_records_no_room_total", kCounter,
     "Probes that had no room for a hop record"},
    {"starts_armed", "starts_armed_total", kCounter, "Announcements that were armed"},
    {"starts_predicted", "starts_predicted_total", kCounter, "Entries by a prediction"},
    {"predictions_missed", "predictions_missed_total", kCounter, "Predictions without a burst"},
    {"starts_repeated", "starts_repeated_total", kCounter, "Announcements known already"},
    {"starts_refused_budget", "starts_refused_budget_total", kCounter,
     "Announcements refused: the job's budget was used up"},
    {"starts_refused_table", "starts_refused_table_total", kCounter,
     "Announcements refused: the table was full"},
    {"recovered_arrival", "recovered_arrival_total", kCounter, "Regulation ended by arrival"},
    {"recovered_burst_end", "recovered_burst_end_total", kCounter,
     "Regulation ended by the burst's end"},
    {"recovered_timer", "recovered_timer_total", kCounter, "Regulation ended by its timer"},
    {"expired", "expired_total", kCounter, "Regulation ended without a burst"},
    {"budget_exhausted", "budget_exhausted_total", kCounter, "Regulation ended by the budget"},
    {"replaced", "replaced_total", kCounter, "Regulation replaced by a newer iteration's"},
    {"withdrawn", "withdrawn_total", kCounter, "Regulation ended by a reload"},
    {"entries_left", "entries", kGauge, "Announcements that are live"},
    {"regulated_ns", "regulated_ns_total", kCounter, "Time with regulation in force"},
};

MetricFamily& family(std::vector<MetricFamily>& all, const std::string& name, MetricType type,
                     const std::string& help) {
  for (auto& known : all)
    if (known.name == name) return known;
  all.push_back({name, help, type, {}});
  return all.back();
}

void add(MetricFamily& to, Labels labels, const Json& value) {
  ClientMetric metric;
  metric.label = std::move(labels);
  const double number = value.is_boolean() ? value.get<bool>() : value.get<double>();
  if (to.type == kCounter) metric.counter.value = number;
  else metric.gauge.value = number;
  to.metric.push_back(std::move(metric));
}

/// A number, or one for each class.
void add_by_class(MetricFamily& to, const Labels& labels, const Json& value) {
  if (!value.is_object()) return add(to, labels, value);
  for (const auto& [name, of_class] : value.items()) {
    Labels own = labels;
    own.push_back({"class", name});
    add(to, std::move(own), of_class);
  }
}

/// {class: {reason: n}}
void add_by_reason(MetricFamily& to, const Labels& labels, const Json& value) {
  for (const auto& [name, by_reason] : value.items())
    for (const auto& [reason, n] : by_reason.items()) {
      Labels own = labels;
      own.push_back({"class", name});
      own.push_back({"reason", reason});
      add(to, std::move(own), n);
    }
}

/// Parts of a queue's report that are tables of their own: pace and window.
void add_part(std::vector<MetricFamily>& all, const Labels& labels, const Json& queue,
              const std::string& part, const char* help) {
  for (const auto& [field, value] : queue[part].items()) {
    if (value.is_object()) {
      for (const auto& [reason, n] : value.items()) {
        Labels own = labels;
        own.push_back({"reason", reason});
        add(family(all, "outrider_queue_" + part + '_' + field + "_total", kCounter, help), own, n);
      }
      continue;
    }
    const bool gauge = field.starts_with("max_");
    add(family(all, "outrider_queue_" + part + '_' + field + (gauge ? "" : "_total"),
               gauge ? kGauge : kCounter, help),
        labels, value);
  }
}

void add_queue_metrics(std::vector<MetricFamily>& all, const Json& queue) {
  const Labels labels{{"switch", queue["switch_name"].get<std::string>()},
                      {"port", queue["port_name"].get<std::string>()},
                      {"queue", std::to_string(queue["queue"].get<int>())}};
  const std::string prefix = "outrider_queue_";
  for (const auto& m : kQueueMetrics)
    add_by_class(family(all, prefix + m.name, m.type, m.help), labels, queue[m.field]);
  add_by_reason(family(all, prefix + "drops_total", kCounter, "Packets dropped at the queue"),
                labels, queue["drops"]);
  add_by_reason(family(all, prefix + "marks_total", kCounter, "Packets given CE at the queue"),
                labels, queue["marks"]);
  add_part(all, labels, queue, "pace", "What pacing did, see the report");
  add_part(all, labels, queue, "predictor", "What predictions did, see the report");
  add_part(all, labels, queue, "window", "What holding windows did, see the report");
}

std::vector<MetricFamily> families_of(const SwitchReport& report) {
  const Json json = Json::parse(to_json(report));
  std::vector<MetricFamily> all;
  for (const auto& m : kSwitchMetrics)
    add(family(all, std::string("outrider_switch_") + m.name, m.type, m.help), {}, json[m.field]);
  add_by_reason(
      family(all, "outrider_switch_drops_total", kCounter, "Packets dropped, at queues or before"),
      {}, json["drops"]);
  auto& bad = family(all, "outrider_switch_signals_bad_udp_total", kCounter,
                     "UDP messages that were believed to be no signal");
  for (const auto& [fault, n] : json["signals_bad_udp"].items()) add(bad, {{"reason", fault}}, n);
  for (const auto& queue : json["queues"]) add_queue_metrics(all, queue);
  return all;
}

class Source final : public prometheus::Collectable {
 public:
  explicit Source(const SwitchSnapshots& snapshots) : snapshots_(snapshots) {}
  std::vector<MetricFamily> Collect() const override { return families_of(snapshots_.read()); }

 private:
  const SwitchSnapshots& snapshots_;
};

/// The library only says that it failed. @throws EnvironmentError
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
                           ". End who has the port, or choose another address.");
}

}  // namespace

struct PrometheusEndpoint::Parts {
  std::shared_ptr<prometheus::Collectable> source;
  std::unique_ptr<prometheus::Exposer> exposer;
};

std::string to_prometheus(const SwitchReport& report) {
  return prometheus::TextSerializer().Serialize(families_of(report));
}

PrometheusEndpoint::PrometheusEndpoint(const std::string& address, const SwitchSnapshots& snapshots)
    : parts_(std::make_unique<Parts>()) {
  try_to_listen(address);
  parts_->source = std::make_shared<Source>(snapshots);
  // Its threads run where the one that makes them does.
  on_control_cpus("prometheus", [&] {
    parts_->exposer = std::make_unique<prometheus::Exposer>(address, 1);
    parts_->exposer->RegisterCollectable(parts_->source);
  });
}

PrometheusEndpoint::~PrometheusEndpoint() = default;

}  // namespace outrider
