#include "trafficgen/streams/engine/stream_config.h"

namespace outrider::tg {
namespace {

void describe_flows(Settings& v, StreamConfig& c) {
  v.value("flows", c.flows,
          {.accepts = "1 to 4194304, at most what addresses and ports tell apart"});
  v.value("source", c.source,
          {.accepts = "unicast IPv4", .absent = "required with `device`", .help = "of flow 0"});
  v.value("destination", c.destination,
          {.accepts = "unicast IPv4", .absent = "required with `device`", .help = "of flow 0"});
  v.value("source_addresses", c.source_addresses,
          {.accepts = "1 to 4194304", .help = "consecutive ones"});
  v.value("destination_addresses", c.destination_addresses,
          {.accepts = "1 to 4194304", .help = "consecutive ones"});
  v.value("source_port", c.source_port, {.accepts = "1 to 65535", .help = "first ones"});
  v.value("destination_port", c.destination_port, {.accepts = "1 to 65535", .help = "first ones"});
  v.value("source_ports", c.source_ports,
          {.accepts = "1 to 65535", .absent = "as many as flows need", .help = "consecutive ones"});
  v.value("destination_ports", c.destination_ports,
          {.accepts = "1 to 65535", .help = "consecutive ones"});
  v.value("source_mac", c.source_mac,
          {.accepts = "unicast, any", .absent = "from the first address", .help = ""});
  v.value("destination_mac", c.destination_mac,
          {.accepts = "unicast, any",
           .absent = "from the first address, or the gateway's if there is one",
           .help = ""});
  v.value("dscp", c.dscp, {.range = integers(0, 63)});
  v.choice("ecn", c.ecn, kStreamEcn);
  v.choice("udp_checksum", c.udp_checksum, kUdpChecksums,
           {.help = "none, or over header and payload"});
}

}  // namespace

void describe(Settings& v, StreamConfig& c) {
  v.value("name", c.name, {.required = true, .accepts = "unique"});
  v.value("id", c.id,
          {.accepts = "0 to 1023, unique",
           .absent = "position in the file",
           .help = "in the packets' stamps; sender and receiver must agree"});
  v.value("device", c.device,
          {.accepts = "name of a `[[device]]`",
           .absent = "none",
           .help = "that sends; without it the stream is only received"});
  v.value("receive_device", c.receive_device,
          {.accepts = "name of a `[[device]]`",
           .absent = "none",
           .help = "that it arrives at. One of the two is required"});
  v.text(
      "rate", c.rate, parse_stream_rate, format_stream_rate,
      {.accepts = "packet rate up to 1gpps (`\"10mpps\"`), bit rate up to 400gbit, or a share of "
                  "`line_rate` (`\"40%\"`, four decimals)",
       .absent = "required with `device`",
       .help = "with `on_off`, of the bursts"});
  v.choice("layer", c.layer, kStreamLayers,
           {.help = "of a bit rate: frame + 20 B, or the frame with FCS"});
  v.choice("pattern", c.pattern, kStreamPatterns);
  v.value("burst_packets", c.burst_packets,
          {.accepts = "1 to 2^30, with `on_off`", .help = "packets of a burst"});
  v.duration(
      "gap", c.gap,
      {.accepts = "above 0, with `on_off`", .absent = "none", .help = "silence after a burst"});
  v.value("frame_bytes", c.frame_bytes,
          {.accepts = "64 to 9018, FCS included, within the device's MTU"});
  v.text("imix", c.imix, parse_size_mix, format_size_mix,
         {.accepts = "`\"simple\"` or `\"64:7,594:4,1518:1\"`; at most 4096 packets a cycle",
          .absent = "none",
          .help = "size:weight. At most one of `frame_bytes` and `imix`"});
  describe_flows(v, c);
  v.duration(
      "start", c.start,
      {.range = durations_from(Duration::zero()),
       .absent = "drawn by the seed between 0 and the time from a packet, or a burst, to the "
                 "next one, so that streams of one rate do not send together",
       .help = "of the first packet"});
  v.duration("duration", c.duration,
             {.range = durations_above_zero(),
              .absent = "none",
              .help = "end of the stream, whichever comes first"});
  v.value(
      "packets", c.packets,
      {.accepts = "above 0", .absent = "none", .help = "end of the stream, whichever comes first"});
  v.duration("max_lag", c.max_lag,
             {.range = durations_above_zero(),
              .help = "further behind, the schedule is moved, and that is counted"});
  v.value("latency_samples", c.latency_samples,
          {.accepts = "0 to 2^27",
           .help = "raw latencies kept, 8 B each; of probes their hop records too, 104 B"});
  v.value("hops", c.hops,
          {.accepts = "0 to 4; needs frames of 68 + 16 x `hops` bytes",
           .help = "records that switches may leave in each packet: the stream is one of "
                   "[probes](streams.md#probes)"});
}

}  // namespace outrider::tg
