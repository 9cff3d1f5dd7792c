#include "common/config/process_checks.h"
#include "switch/config/config_toml.h"
#include "switch/config/lcore_plan.h"
#include "switch/config/regulation_config.h"
#include "switch/config/reload_rules.h"

namespace outrider::sw {

namespace {

constexpr std::uint32_t kLastNumberedPacket = 1'000'000'000;
constexpr const char* kNumberedRule = "ascending, at most 1024 of them";

}  // namespace

void describe(Settings& v, DeviceConfig& c) {
  describe_device(v, c);
  v.value("rx_queues", c.rx_queues,
          {.range = integers(1, kMaxRxQueues),
           .accepts = "what the device has",
           .absent = "one for each lcore if the device can spread flows (RSS), else 1",
           .help = "each is polled by one lcore. With `more_lcores`, 1 for a device with a port "
                   "that [holds windows](lcores.md#several-lcores)"});
  v.value("mtu_bytes", c.mtu_bytes,
          {.range = integers(kMinMtuBytes, kMaxMtuBytes, "bytes"),
           .help = "longest IP packet that the device takes; buffers get room for the largest of "
                   "all devices"});
}

void describe(Settings& v, SwitchPortConfig& c) {
  v.value("name", c.name, {.required = true, .accepts = "unique within the switch, no dot"});
  v.rate(
      "drain_rate", c.drain_rate,
      {.range = link_rates(),
       .help = "rate of the emulated link; keep it below the NIC's, so that the queue builds here",
       .reload = kReloads});
  v.choice("rate_layer", c.rate_layer, kRateLayers,
           {.help = "l1 counts 24 B of preamble, gap and FCS per frame", .reload = kReloads});
  v.duration("delay", c.delay,
             {.range = durations(Duration::zero(), kMaxDelay),
              .accepts = "0 on a linked port",
              .help = "propagation to a host behind the device, and from it"});
  v.value("device", c.device,
          {.accepts = "name of a `[[device]]` that no other switch has",
           .absent = "none: a `[[link]]` names the port",
           .help = "an edge port; ports of one switch may share a device, and what arrives there "
                   "enters by the port that its source is routed to. Exactly one of this and a "
                   "`[[link]]` makes the port; every device has a port"});
  v.share("loss", c.loss,
          {.range = reals(0, 1),
           .help = "drops so many of its packets before the queue, by `seed`: `injected_loss`. "
                   "Signals pass, unless it is 1: then the link is down. For tests and experiments",
           .reload = kReloads});
  v.value("lose_packets", c.lose_packets,
          {.range = integers(1, kLastNumberedPacket),
           .accepts = kNumberedRule,
           .help = "loses the data packets with these numbers, before the queue: `injected_loss`. "
                   "1 is the first packet with payload that arrives at the port, and resent ones "
                   "count too. For tests and experiments"});
  v.value("mark_packets", c.mark_packets,
          {.range = integers(1, kLastNumberedPacket),
           .accepts = kNumberedRule,
           .help = "sets Congestion Experienced in the data packets with these numbers that are "
                   "ECN-capable: `injected`. For tests and experiments"});
  v.value("record", c.record,
          {.help = "keep burst records and the time series of each of its queues",
           .reload = kReserved});
  v.table("queue", c.queue);
  v.table("marker", c.marker, {.reload = kReloads});
  v.table("regulation", c.regulation);
  v.choice("scheduler", c.scheduler, kSchedulers,
           {.help = "which queue is served next; with one queue all are FIFO", .reload = kReloads});
  v.value("limit_packets", c.limit_packets,
          {.range = integers(1, kMaxQueuePackets, "packets"),
           .accepts = "only with `queues`, none of them lossless",
           .absent = "none",
           .help = "most packets that wait in all queues of the port together: what one does not "
                   "use another may, up to its own limit"});
  v.bytes("limit_bytes", c.limit_bytes,
          {.range = integers_from(kLargestFrameBytes, "bytes"),
           .accepts = "only with `queues`, none of them lossless",
           .absent = "none",
           .help = "the same in frame bytes"});
  v.tables("queues", c.queues, PortQueueConfig{c.queue, c.marker, c.regulation});
}

void describe(Settings& v, BufferConfig& c) {
  v.bytes("total_bytes", c.total_bytes,
          {.accepts = "size; at least 9018 and the sum of all queues' `reserved_bytes`",
           .absent = "none",
           .help = "one buffer for all queues of the switch, in frame bytes; without it queues "
                   "have their own limits alone"});
}

void describe(Settings& v, SwitchConfig& c) {
  v.value("name", c.name, {.required = true, .accepts = "unique, no dot"});
  v.text("ddl_ports", c.ddl_ports, parse_port_range, format_port_range,
         {.accepts = "ports 1 to 65535, one or a range",
          .help = "TCP ports, of either end, whose packets are DDL data",
          .reload = kReloads});
  v.table("signals", c.signals, {.reload = kReloads});
  v.table("buffer", c.buffer, {.reload = kDivided});
  v.table("hop_records", c.hop_records);
  SwitchPortConfig port;
  v.defaults("queue", port.queue);
  v.defaults("marker", port.marker, {.reload = kReloads});
  v.defaults("regulation", port.regulation);
  v.tables("port", c.ports, port);
  v.value("mac", c.mac,
          {.accepts = "unicast MAC address; required with `neighbour` or `address`",
           .help = "the switch's own",
           .reload = kReloads});
  v.choice(
      "route_table", c.route_table, kRouteTableKinds,
      {.help = "IPv4 routes in a small table of ours, or in rte_lpm, which takes 64 MiB per switch",
       .reload = kReserved});
  v.table("l2", c.l2, {.reload = kLearned});
  v.table("classes", c.classes, {.reload = kReloads});
  v.tables("route", c.routes, {.reload = kReloads});
  v.tables("mac_route", c.mac_routes, {.reload = kReloads});
  v.tables("neighbour", c.neighbours, {.reload = kReloads});
  v.tables("address", c.addresses, {.reload = kReloads});
  v.tables("rule", c.rules, {.reload = kReloads});
}

void describe(Settings& v, SwitchLinkConfig& c) {
  const About end{.required = true,
                  .accepts = "`\"switch.port\"`; a port is in one link",
                  .help = "joins two ports in memory"};
  v.value("a", c.a, end);
  v.value("b", c.b, end);
  v.duration("delay", c.delay,
             {.range = durations(Duration::zero(), kMaxDelay), .help = "one way"});
}

void describe(Settings& v, SwitchProcessConfig& c) {
  v.value("seed", c.seed,
          {.range = integers(0, kLargestTomlInteger),
           .help = "of the ports' `loss` and of the draws of RED and PIE",
           .reload = refused("was used for the packets so far")});
  v.value("lcore", c.lcore,
          {.range = integers(0, kMaxLcore), .help = "CPU that the poll loop runs on"});
  v.value("more_lcores", c.more_lcores,
          {.range = integers(0, kMaxLcore),
           .accepts = "at most 63 CPUs",
           .help = "further lcores that [share the work](lcores.md#several-lcores)"});
  v.value("mbufs", c.mbufs,
          {.accepts = "at least the derived number",
           .absent = "derived",
           .help = "packet buffers of the process",
           .reload = kReserved});
  v.duration("bin", c.bin,
             {.range = kBinWidths,
              .help = "width of a time series' bins",
              .reload = refused("is the width of the records so far")});
  v.value("max_burst_records", c.max_burst_records,
          {.range = integers(1, kMaxRecords),
           .help = "burst records kept per queue of a recorded port",
           .reload = kReserved});
  v.value("max_bins", c.max_bins,
          {.range = integers(1, kMaxRecords),
           .help = "bins kept of a time series, per queue of a recorded port",
           .reload = kReserved});
  v.table("telemetry", c.telemetry);
  v.tables("device", c.devices);
  v.tables("switch", c.switches);
  v.tables("link", c.links);
}

}  // namespace outrider::sw
