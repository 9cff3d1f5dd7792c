#include "trafficgen/preview.h"

#include <algorithm>
#include <sstream>
#include <vector>

#include "common/config/addresses.h"
#include "trafficgen/background/flow_arrivals.h"
#include "trafficgen/background/long_flow.h"

namespace outrider {
namespace {

struct Event {
  Time at{};
  const char* kind = "";
  const std::string* name = nullptr;  ///< of the table
  const std::string* from = nullptr;
  const std::string* to = nullptr;
  std::uint64_t bytes = 0;  ///< 0: not known before the run, or without end
};

class Timetable {
 public:
  Timetable(const GeneratorConfig& config, Time until) : config_(config), until_(until) {}

  void collect() {
    for (const auto& job : config_.jobs) add_job(job);
    std::uint32_t index = 0;
    for (const auto& flows : config_.long_flows) add_long_flows(flows, index);
    for (std::uint32_t i = 0; i < config_.flows.size(); ++i) add_group(config_.flows[i], i);
    std::ranges::stable_sort(events_, {}, &Event::at);
  }

  Preview text() const {
    Preview p{.events = events_.size(), .ends_before_run = full_};
    std::ostringstream out;
    out << "at_ns,kind,name,from,to,bytes\n";
    for (const Event& e : events_) {
      out << e.at.time_since_epoch().count() << ',' << e.kind << ',' << *e.name << ','
          << (e.from == nullptr ? "" : *e.from) << ',' << (e.to == nullptr ? "" : *e.to) << ',';
      if (e.bytes != 0) out << e.bytes;
      out << '\n';
    }
    p.csv = out.str();
    return p;
  }

 private:
  bool add(const Event& e) {
    if (e.at >= until_) return false;
    full_ = events_.size() >= kMaxPreviewEvents;
    if (!full_) events_.push_back(e);
    return !full_;
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

  void add_long_flows(const LongFlowsConfig& flows, std::uint32_t& index) {
    for (std::size_t pair = 0; pair < flows.from.size(); ++pair)
      for (std::uint32_t n = 0; n < flows.flows_per_pair; ++n)
        add({.at = long_flow_start(flows.start, flows.start_spread, config_.seed, index++),
             .kind = "long_flow_start",
             .name = &flows.name,
             .from = &flows.from[pair],
             .to = &flows.to[pair]});
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
    const auto transport =
        std::ranges::find(config_.transports, flows.transport, &TransportConfig::name);
    const auto arrivals = make_arrivals(flows, described(from), described(to),
                                        transport->tcp.control.mss_bytes, config_.seed, index);
    while (const auto a = arrivals->next())
      if (!add({.at = a->at,
                .kind = "flow_arrival",
                .name = &flows.name,
                .from = &from[a->from],
                .to = &to[a->to],
                .bytes = a->bytes}))
        return;
  }

  const GeneratorConfig& config_;
  Time until_;
  std::vector<Event> events_;
  bool full_ = false;
};

}  // namespace

Preview preview(const GeneratorConfig& config, Duration until) {
  Timetable timetable(config, Time{} + until);
  timetable.collect();
  return timetable.text();
}

}  // namespace outrider
