#include "trafficgen/apps/timetable.h"

#include <algorithm>
#include <utility>

#include "common/config/addresses.h"
#include "trafficgen/background/flow_arrivals.h"
#include "trafficgen/background/long_flow.h"
#include "trafficgen/config/full_packet.h"

namespace outrider::tg {
namespace {

class Collector {
 public:
  Collector(const GeneratorConfig& config, Time until, std::uint64_t max_events)
      : config_(config), until_(until), max_events_(max_events) {}

  Timetable collect() {
    for (const auto& job : config_.jobs) add_job(job);
    std::uint32_t index = 0;
    for (const auto& flows : config_.long_flows) add_long_flows(flows, index);
    for (std::uint32_t i = 0; i < config_.flows.size(); ++i) add_group(config_.flows[i], i);
    for (const auto& capture : config_.captures)
      add({.at = Time{} + capture.start,
           .kind = "capture_start",
           .name = &capture.name,
           .from = &capture.from,
           .to = &capture.to});
    std::ranges::stable_sort(events_, {}, &TimetableEvent::at);
    return {std::move(events_), full_};
  }

 private:
  bool add(const TimetableEvent& e) {
    if (e.at >= until_) return false;
    if (events_.size() >= max_events_) {
      full_ = true;
      return false;
    }
    events_.push_back(e);
    return true;
  }

  void add_job(const JobConfig& job) {
    const Time start = Time{} + job.start;
    if (job.schedule == Schedule::kClosedLoop) {
      for (const auto& worker : job.workers)
        add({.at = start, .kind = "job_start", .name = &job.name, .from = &worker});
      return;
    }
    for (std::uint32_t n = 0; n < job.iterations; ++n) {
      const Time due = start + job.first_due + n * job.period;
      for (const auto& worker : job.workers)
        if (!add({.at = due,
                  .kind = "burst_due",
                  .name = &job.name,
                  .from = &worker,
                  .bytes = job.burst_bytes.value_or(0)}))
          return;
    }
  }

  /// Returns nullptr for a transport whose flows open no connection of TCP.
  const TcpConfig* transport(const std::string& name) const {
    const auto it = std::ranges::find(config_.transports, name, &TransportConfig::name);
    return it->protocol == TransportProtocol::kTcp ? &it->tcp : nullptr;
  }

  void add_long_flows(const LongFlowsConfig& flows, std::uint32_t& index) {
    for (std::size_t pair = 0; pair < flows.from.size(); ++pair)
      for (std::uint32_t n = 0; n < flows.flows_per_pair; ++n) {
        add({.at = long_flow_start(flows.start, flows.start_spread, config_.seed, index),
             .kind = "long_flow_start",
             .name = &flows.name,
             .from = &flows.from[pair],
             .to = &flows.to[pair],
             .transport = transport(flows.transport),
             .port = static_cast<std::uint16_t>(flows.tcp_port + index),
             .full_mtu = true});
        ++index;
      }
  }

  std::vector<FlowHost> described(const std::vector<std::string>& names) const {
    std::vector<FlowHost> hosts;
    for (const auto& name : names) {
      const auto host = std::ranges::find(config_.hosts, name, &HostConfig::name);
      hosts.push_back({*parse_ipv4(host->address).value, host->rate});
    }
    return hosts;
  }

  void add_group(const FlowsConfig& flows, std::uint32_t index) {
    const auto& from = flows.list ? flows.hosts : flows.from;
    const auto& to = flows.list ? flows.hosts : flows.to;
    const TcpConfig* tcp = transport(flows.transport);
    const auto arrivals = make_arrivals(flows, described(from), described(to),
                                        full_packet_of(config_, flows), config_.seed, index);
    while (const auto a = arrivals->next())
      if (!add({.at = a->at,
                .kind = "flow_arrival",
                .name = &flows.name,
                .from = &from[a->from],
                .to = &to[a->to],
                .bytes = a->bytes,
                .transport = tcp,
                .port = flows.tcp_port}))
        return;
  }

  const GeneratorConfig& config_;
  Time until_;
  std::uint64_t max_events_;
  std::vector<TimetableEvent> events_;
  bool full_ = false;
};

}  // namespace

Timetable timetable_of(const GeneratorConfig& config, Time until, std::uint64_t max_events) {
  return Collector(config, until, max_events).collect();
}

}  // namespace outrider::tg
