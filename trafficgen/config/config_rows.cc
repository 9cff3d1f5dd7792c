#include <algorithm>
#include <utility>

#include "common/config/process_checks.h"
#include "trafficgen/config/config_limits.h"
#include "trafficgen/config/config_toml.h"
#include "trafficgen/transport/base/tcp_stack.h"

namespace outrider::tg {

void describe(Settings& v, GeneratorDeviceConfig& c) {
  describe_device(v, c);
  describe(v, c.arp);  // its keys are in [[device]] itself
  v.rate("line_rate", c.line_rate,
         {.range = link_rates(),
          .absent = "the link's; a virtual device has none",
          .help = "L1, what the rates of streams are checked against and a share of"});
}

void describe(Settings& v, HostConfig& c) {
  v.value("name", c.name, {.required = true, .accepts = "unique"});
  v.value("address", c.address, {.required = true, .accepts = "unicast IPv4, unique"});
  v.value(
      "device", c.device,
      {.required = true, .accepts = "name of a `[[device]]`", .help = "many hosts may share one"});
  v.rate("rate", c.rate, {.range = link_rates(), .help = "of the host's NIC, L1"});
  v.bytes("mtu_bytes", c.mtu_bytes,
          {.range = integers(kMinHostMtuBytes, kMaxHostMtuBytes, "bytes"),
           .accepts = "at least `mss_bytes` + 52 of every transport it uses",
           .help = "IP packet"});
  v.bytes("tso_bytes", c.tso_bytes,
          {.accepts = "0, or `mtu_bytes` to 65536",
           .help = "payload of one connection that leaves back to back at the NIC's rate, as "
                   "segmentation offload makes it; 0: the segments of connections take turns"});
  v.table("pause_storm", c.pause_storm);
}

void describe(Settings& v, TcpConfig& c) {
  const auto choices = [&c] { return std::pair{c.stack, c.control.controller}; };
  const auto before = choices();
  describe_kind(v, c.control);  // the controller's keys are in the same table
  v.choice("stack", c.stack, kTcpStacks,
           {.help = "whose choices the settings below begin with: those of Linux 6.1, or of the "
                    "basic RFCs, see [the generator](generator.md#tcp-as-linux-has-it). A setting "
                    "that is given beside it wins"});
  if (choices() != before) use_stack(c, c.stack);  // the rows below read what is given
  v.bytes(
      "mss_bytes", c.mss_bytes,
      {.range = integers(kMinHostMtuBytes - kSegmentHeaderBytes,
                         kMaxHostMtuBytes - kSegmentHeaderBytes, "bytes"),
       .help = "payload of a full segment, at most: less if the peer accepts less, and 12 bytes "
               "less with `timestamps`"});
  describe_parameters(v, c.control);
  v.value("ecn", c.ecn,
          {.accepts = "`true` with `dctcp` and `prague`", .help = "negotiate and obey ECN"});
  v.value("obey_ece", c.obey_ece, {.help = "`false`: a sender that is ECT but ignores marks"});
  v.value("priority", c.priority,
          {.range = integers(0, 7),
           .absent = "none",
           .help = "hosts stop these packets while a [pause frame](pfc.md#hosts) says so for the "
                   "priority"});
  v.choice("connections", c.reuse, kConnectionReuses,
           {.help = "between bursts: a new connection; kept, with the window restarted after an "
                    "idle time; kept as it is"});
  v.duration("min_rto", c.min_rto, {.range = durations_above_zero()});
  v.choice(
      "rto", c.rto, kRtoRules,
      {.help = "the retransmission time-out: the smoothed round trip and four mean deviations, "
               "together at least `min_rto` (RFC 6298); or as Linux has it, the smoothed round "
               "trip and the largest deviation of late, which alone is at least `min_rto`, and "
               "an echoed timestamp of any age ends the back-off"});
  v.duration("initial_rto", c.initial_rto, {.accepts = "at least `min_rto`"});
  v.duration("max_rto", c.max_rto, {.accepts = "at least `initial_rto`"});
  v.duration("delayed_ack", c.delayed_ack,
             {.range = durations_above_zero(),
              .accepts = "shorter than `min_rto`",
              .help = "longest wait of an ACK. Lower it together with `min_rto`: a lone last "
                      "segment would otherwise time out first"});
  v.value("ack_every_segments", c.ack_every_segments, {.range = integers(1, 64, "segments")});
  v.value("quick_acks", c.quick_acks,
          {.range = integers(0, 31, "segments"),
           .help = "the first so many ACKs of a connection leave for each segment, whatever "
                   "`ack_every_segments`: Linux sends 16 while it takes the sender to be in slow "
                   "start"});
  v.bytes("receive_buffer_bytes", c.receive_buffer_bytes, {.accepts = "`mss_bytes` to 1073725440"});
  v.rate("read_rate", c.read_rate,
         {.range = link_rates(),
          .absent = "none: at once",
          .help = "at which the application takes what has arrived in order: windows close and "
                  "open by a segment or half the buffer, whichever is less, and never move back. "
                  "Bytes count as delivered when they arrive. Senders have no Nagle algorithm: the "
                  "last segment of what is written leaves at once, however short; into a window "
                  "smaller than a segment they send only when nothing else is in flight"});
  v.value("sack", c.sack,
          {.accepts = "`true` with `rack_tlp`",
           .help = "offer and accept SACK; without it, or with a peer that has none, losses are "
                   "repaired as by NewReno (RFC 6582): one a round trip"});
  v.value(
      "pacing", c.pacing,
      {.help = "spread the window over the round trip: segments leave at 2 times the window per "
               "smoothed round trip in slow start (below half of ssthresh) and 1.2 times above, as "
               "Linux paces; from the first measured round trip on. The NIC's or the poll's "
               "lateness is made up for up to 100 us. `\"unresponsive\"` is paced in any case"});
  v.choice(
      "loss_detection", c.loss_detection, kLossDetections,
      {.help = "what makes a segment lost: three SACKed above it, and a lost tail waits for "
               "`min_rto`; or RFC 8985: one that left later has arrived, and a tail is probed "
               "after two round trips. Linux does the latter. Without SACK neither is in use"});
  v.choice(
      "tail_probe", c.tail_probe, kTailProbes,
      {.help = "when a tail is probed with `loss_detection = \"rack_tlp\"`: after two round "
               "trips, and for a lone segment `delayed_ack` more (RFC 8985); or as Linux 6.1 "
               "has it, 8 ms later, and for a lone segment `min_rto` later, but no later than "
               "the time-out. Among hosts with short round trips Linux thus waits far longer"});
  v.choice(
      "reduction", c.reduction, kWindowReductions,
      {.help = "how the window falls after losses and marks: at once, so that nothing leaves until "
               "the data in flight fits (RFC 6675); or within a round trip, by proportional rate "
               "reduction (PRR, RFC 9937), as Linux does"});
  v.choice("ssthresh_base", c.ssthresh_base, kSsthreshBases,
           {.help = "what losses, marks and time-outs take their share of: the data in flight, at "
                    "most the window (RFC 5681); or the window, as Linux has it. They differ "
                    "where the application or the peer limits the flight. Marks reduce a window of "
                    "DCTCP in any case. With `\"window\"` a time-out in a recovery, or in the "
                    "round trip after a mark, leaves ssthresh"});
  v.choice("lost_retransmission", c.lost_retransmission, kLostRetransmissions,
           {.help = "what a retransmission that is lost again does to the window, where "
                    "`loss_detection` finds that: it is reduced once more (RFC 8985); or, as Linux "
                    "has it, only after a time-out, which then becomes a fast recovery"});
  v.choice("window_validation", c.window_validation, kWindowUses,
           {.help = "a window that the application or the peer does not let the sender fill: it "
                    "stays as it is; or as Linux has it, in slow start it grows to twice what is "
                    "outstanding, and after an RTO without need it falls halfway to what was "
                    "used, with three quarters of it as ssthresh, where `connections` restarts "
                    "idle ones and all that was written has left"});
  v.choice("segment_bursts", c.segment_bursts, kSegmentJoinings,
           {.help = "how many segments leave at once: as many as an ACK allows; or as Linux joins "
                    "them for segmentation offload (TSO), what the pace sends in a millisecond, if "
                    "that is at most a third of the window. Then bursts find queues fuller than "
                    "the mean says, and are marked more"});
  v.value(
      "timestamps", c.timestamps,
      {.help = "offer and accept the timestamps of RFC 7323, with ticks of 1 ms. They take 12 "
               "bytes of `mss_bytes` in every segment. Set it when a real host is the other end"});
  v.value("mltcp", c.mltcp,
          {.accepts = "`true` with `reno` and `cubic`, and over RoCEv2 with `dcqcn`",
           .help = "for bursts of jobs alone: [MLTCP](jobs.md#jobs-that-slide-apart-mltcp) scales "
                   "the controller's growth by how much of the burst is acknowledged"});
  v.duration("time_wait", c.time_wait,
             {.range = durations_from(Duration::zero()),
              .accepts = "0: none",
              .help = "TIME-WAIT: how long the end that closed first acknowledges its peer's FIN "
                      "again, and does not use the port again where it asks for a free one "
                      "(`[[requests]]`, `[[flows]]`). 1 s outlasts queues, and a FIN that is sent "
                      "again after 200 and 600 ms. The RFC's 4 minutes or Linux's 60 s would hold "
                      "the 32,768 ports of a pair of hosts at 546 connections a second: set it so "
                      "against a real host if that suits. 40 bytes a connection"});
}

const TransportConfig& transport_named(const GeneratorConfig& config, const std::string& name) {
  return *std::ranges::find(config.transports, name, &TransportConfig::name);
}

TransportConfig default_transport() {
  TransportConfig transport;
  use_stack(transport.tcp, TcpStack::kLinux);
  return transport;
}

void describe(Settings& v, TransportConfig& c) {
  const TransportProtocol before = c.protocol;
  v.value("name", c.name, {.required = true, .accepts = "unique"});
  v.choice(
      "protocol", c.protocol, kTransportProtocols,
      {.help = "what carries the data: TCP; of jobs, transfers and background also "
               "[RoCEv2](roce.md); of jobs also the [bounded-loss transport](bounded-loss.md). "
               "With `\"mlt\"` the controller is `\"dctcp\"` "
               "or `\"timely\"`, and of the keys below only those down to `connections` may be "
               "changed, which is `\"idle_restart\"` or `\"keep\"`. With `\"roce\"` "
               "only `name`, `priority`, `mltcp` and those of `transport.roce`"});
  if (c.protocol != before && c.protocol != TransportProtocol::kTcp)
    use_stack(c.tcp, TcpStack::kRfc);  // it has none
  describe(v, c.tcp);                  // its keys are in [[transport]] itself
  v.table("mlt", c.mlt);
  v.table("roce", c.roce);
}

void describe(Settings& v, LongFlowsConfig& c) {
  v.value("name", c.name, {.required = true, .accepts = "unique"});
  v.value("from", c.from,
          {.required = true,
           .accepts = "hosts, paired; a pair has two different hosts",
           .help = "senders and receivers that always have data"});
  v.value("to", c.to,
          {.required = true,
           .accepts = "hosts, paired; a pair has two different hosts",
           .help = "senders and receivers that always have data"});
  v.value("flows_per_pair", c.flows_per_pair, {.range = integers(1, kMaxFlowsPerPair)});
  v.value("transport", c.transport, {.required = true, .accepts = "name of a `[[transport]]`"});
  v.duration("start", c.start, {.range = durations_from(Duration::zero())});
  v.duration(
      "start_spread", c.start_spread,
      {.range = durations_from(Duration::zero()), .help = "uniform delay of each flow's start"});
  v.value("tcp_port", c.tcp_port, {.range = integers(1, 65535), .help = "of the receivers"});
}

void describe(Settings& v, GeneratorConfig& c) {
  v.value(
      "seed", c.seed,
      {.range = integers(0, kLargestTomlInteger), .help = "every random draw depends on it alone"});
  v.duration("duration", c.duration,
             {.range = durations_above_zero(),
              .accepts = "required without a job, a transfer or a list of flows",
              .absent = "none",
              .help = "without it the run ends with the last job, or without jobs with the last "
                      "flow of its lists"});
  v.share("send_jitter", c.send_jitter,
          {.range = reals(0, 1),
           .help = "random wait of a NIC that was idle, in serialisation times of an MTU; breaks "
                   "phase effects"});
  v.value("attribution", c.attribution,
          {.help = "virtual time only, refused with real devices: where the time of each burst "
                   "goes, see [Measurement](bursts.md#attribution)"});
  v.choice("payload", c.payload, kPayloads,
           {.help = "what data bytes hold; with `pattern` receivers check each, and a wrong one "
                    "makes the exit status 5. Real frames only"});
  v.value("lcore", c.lcore,
          {.range = integers(0, kMaxLcore), .help = "CPU that the poll loop runs on"});
  v.value("more_lcores", c.more_lcores,
          {.range = integers(0, kMaxLcore),
           .accepts = "at most 63 CPUs; a group of hosts, or of streams, for each lcore",
           .help = "further lcores that [share the hosts, or the "
                   "streams](generator.md#several-lcores). Real devices alone: virtual time has "
                   "one lcore"});
  v.value("mbufs", c.mbufs,
          {.accepts = "at least the derived number",
           .absent = "derived",
           .help = "packet buffers of the process"});
  v.duration("bin", c.bin, {.range = kBinWidths, .help = "width of a time series' bins"});
  v.value("max_bins", c.max_bins,
          {.range = integers(1, kMaxRecords), .help = "bins kept of a time series"});
  v.duration("connection_sample_period", c.connection_sample_period,
             {.range = kBinWidths,
              .absent = "none are taken",
              .help = "how often the state of every connection that sends is noted, over any "
                      "transport (rate, window, alpha, retransmissions): `connections.csv`. It "
                      "costs the poll loop a walk over all connections"});
  v.value("max_connection_samples", c.max_connection_samples,
          {.range = integers(1, kMaxRecords),
           .help = "of these kept by each lcore; no more are "
                   "taken then"});
  v.table("transport_memory", c.transport_memory);
  v.duration("stream_drain", c.stream_drain,
             {.range = durations_from(Duration::zero()),
              .help = "streams are received for so long after the last has ended"});
  v.table("tensorlights", c.tensorlights);
  v.table("telemetry", c.telemetry);
  v.tables("device", c.devices);
  v.tables("host", c.hosts);
  v.tables("transport", c.transports, default_transport());
  v.tables("job", c.jobs);
  v.tables("long_flows", c.long_flows);
  v.tables("requests", c.requests);
  v.tables("flows", c.flows);
  v.tables("capture", c.captures);
  v.tables("neighbour", c.neighbours);
  v.tables("stream", c.streams);
  v.tables("pause", c.pauses);
  v.table("benchmark", c.benchmark);
  v.tables("transfer", c.transfers);
}

}  // namespace outrider::tg
