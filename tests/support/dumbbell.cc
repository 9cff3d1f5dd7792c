#include "tests/support/dumbbell.h"

namespace outrider {

namespace {
constexpr const char* kLeft = "left";
constexpr const char* kRight = "right";

void add_host(sw::SwitchConfig& sw, const std::string& name, const std::string& address,
              BitRate rate, Duration delay) {
  sw::SwitchPortConfig port;
  port.name = name;
  port.drain_rate = rate;
  port.delay = delay;
  port.device = sw.name;
  port.queue.limit_packets = 2000;
  port.marker.kind = sw::MarkerKind::kTailDrop;
  sw.ports.push_back(port);
  sw.routes.push_back({address + "/32", name});
}
}  // namespace

Dumbbell::Dumbbell() {
  bottleneck_port.record = true;
  ddl_tcp.control.controller = tg::Controller::kDctcp;
  background_tcp.control.controller = tg::Controller::kDctcp;
  job.name = "job";
  job.transport = "ddl";
  job.burst_bytes = 1'000'000;
  job.pull = false;
  job.iterations = 3;
  job.schedule = tg::Schedule::kFixed;
  job.first_due = std::chrono::seconds(2);
  job.period = std::chrono::seconds(1);
  job.announce.lead = rtt;
}

sw::SwitchProcessConfig Dumbbell::switches() const {
  sw::SwitchProcessConfig c;
  c.bin = std::chrono::milliseconds(1);
  c.devices = {{.name = kLeft, .device = "net_null0"}, {.name = kRight, .device = "net_null1"}};
  sw::SwitchConfig left, right;
  left.name = kLeft;
  right.name = kRight;
  const Duration edge_delay = rtt / 8;  // a round trip crosses edges four times and the trunk twice
  for (std::uint32_t i = 0; i < workers; ++i)
    add_host(left, "w" + std::to_string(i), "10.0.1." + std::to_string(i + 1), host_rate,
             edge_delay);
  for (std::uint32_t i = 0; i < background_flows; ++i) {
    add_host(left, "b" + std::to_string(i), "10.0.2." + std::to_string(i + 1), host_rate,
             edge_delay);
    add_host(right, "c" + std::to_string(i), "10.0.4." + std::to_string(i + 1), host_rate,
             edge_delay);
  }
  add_host(right, "s0", "10.0.3.1", host_rate, edge_delay);
  sw::SwitchPortConfig trunk = bottleneck_port;
  trunk.name = "trunk";
  trunk.drain_rate = bottleneck;
  left.ports.push_back(trunk);
  sw::SwitchPortConfig back;
  back.name = "trunk";
  back.drain_rate = bottleneck;
  back.queue.limit_packets = 2000;
  right.ports.push_back(back);
  left.routes.push_back({"0.0.0.0/0", "trunk"});
  right.routes.push_back({"0.0.0.0/0", "trunk"});
  if (accept_signals) {
    const bool tos = job.announce.signal_form == tg::SignalForm::kTos;
    for (sw::SwitchConfig* sw : {&left, &right}) {
      sw->signals.accept_tos = tos;
      sw->signals.accept_udp = !tos;
      sw->signals.accept_from = {"10.0.0.0/8"};
    }
  }
  c.switches = {left, right};
  c.links = {{"left.trunk", "right.trunk", rtt / 4}};
  return c;
}

tg::GeneratorConfig Dumbbell::traffic() const {
  tg::GeneratorConfig g;
  g.seed = seed;
  g.devices = {{.name = kLeft, .device = "net_null0"}, {.name = kRight, .device = "net_null1"}};
  const auto host = [&](const std::string& name, const std::string& address, const char* device) {
    g.hosts.push_back({.name = name, .address = address, .device = device, .rate = host_rate});
  };
  tg::JobConfig j = job;
  for (std::uint32_t i = 0; i < workers; ++i) {
    host("w" + std::to_string(i), "10.0.1." + std::to_string(i + 1), kLeft);
    j.workers.push_back("w" + std::to_string(i));
  }
  tg::LongFlowsConfig flows;
  flows.name = "background";
  flows.transport = "background";
  flows.start_spread = std::chrono::milliseconds(100);
  for (std::uint32_t i = 0; i < background_flows; ++i) {
    host("b" + std::to_string(i), "10.0.2." + std::to_string(i + 1), kLeft);
    host("c" + std::to_string(i), "10.0.4." + std::to_string(i + 1), kRight);
    flows.from.push_back("b" + std::to_string(i));
    flows.to.push_back("c" + std::to_string(i));
  }
  host("s0", "10.0.3.1", kRight);
  j.servers = {"s0"};
  g.transports = {{"ddl", ddl_tcp}, {"background", background_tcp}};
  g.jobs = {j};
  if (background_flows > 0) g.long_flows = {flows};
  return g;
}

}  // namespace outrider
