#include "trafficgen/background/capture_frames.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "common/config/process_checks.h"
#include "common/net/headers.h"
#include "trafficgen/background/capture_config.h"

namespace outrider::tg {
namespace {

constexpr std::uint64_t kMaxCaptureBytes = 1ULL << 30;  ///< in memory while it is read
constexpr std::size_t kIpAt = sizeof(EthernetHeader);

std::string hex(unsigned value, int digits) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%0*X", digits, value);
  return text;
}

/// Returns why the frame cannot be played; empty if it can.
std::string fault_of(std::span<const std::uint8_t> frame, std::uint32_t mtu_bytes) {
  const unsigned type = unsigned{frame[kIpAt - 2]} << 8 | frame[kIpAt - 1];
  if (type != kEtherTypeIpv4)
    return "is no IPv4 packet: its EtherType is " + hex(type, 4) +
           "; keep IPv4 alone: tcpdump -r FILE -w PLAYED ip";
  if (frame[kIpAt] >> 4 != 4) return "has no IPv4 header behind its EtherType";
  if (frame.size() > kIpAt + mtu_bytes)
    return "has " + std::to_string(frame.size() - kIpAt) +
           " bytes, more than the hosts' mtu_bytes " + std::to_string(mtu_bytes) +
           "; capture without offload (ethtool -K IFACE gro off lro off tso off gso off)";
  return {};
}

}  // namespace

ConfigResult<CaptureFrames> frames_of(const PcapTrace& trace, std::uint32_t mtu_bytes) {
  CaptureFrames all;
  ConfigIssues issues;
  for (std::size_t i = 0; i < trace.packets.size() && !issues.has_more(); ++i) {
    const auto frame = trace.frame(i);
    std::string fault = fault_of(frame, mtu_bytes);
    if (!fault.empty()) issues.push_back({"packet " + std::to_string(i + 1), std::move(fault)});
    else
      all.frames.push_back(
          {trace.packets[i].at, static_cast<std::uint16_t>(frame.size()), frame[kIpAt + 1]});
  }
  if (trace.backwards != 0)
    issues.push_back({"packet " + std::to_string(trace.first_backwards + 1),
                      "has an earlier time stamp than the packet before it, as " +
                          std::to_string(trace.backwards) + " of " +
                          std::to_string(trace.packets.size()) +
                          " packets have: their gaps would be lost; sort the file by time: "
                          "reordercap FILE SORTED"});
  if (!issues.empty()) return {{}, std::move(issues)};
  const auto gaps = static_cast<std::int64_t>(std::max<std::size_t>(all.frames.size(), 2) - 1);
  const Duration span = all.frames.back().at;
  all.period = span + span / gaps;
  return {std::move(all), {}};
}

ConfigResult<CaptureFrames> load_capture_frames(const std::string& path, std::uint32_t mtu_bytes) {
  const PcapResult capture = load_pcap(path, {.max_bytes = kMaxCaptureBytes, .pad_cut = true});
  if (!capture.problem.empty()) return {{}, {{"", capture.problem}}};
  return frames_of(capture.trace, mtu_bytes);
}

void check_file(const Checks& at, const CaptureConfig& capture, std::uint32_t mtu_bytes) {
  const auto loaded = load_capture_frames(capture.file, mtu_bytes);
  at.faults_of_file("file", capture.file, loaded.issues);
  if (loaded && capture.rounds != 1)
    at.require(loaded.config->period > Duration::zero(), "file", Checks::quoted(capture.file),
               "cannot be played again: all its packets have one time stamp, so that a pass takes "
               "no time");
}

void describe(Settings& v, CaptureConfig& c) {
  v.value("name", c.name, {.required = true, .accepts = "unique"});
  v.value("from", c.from, {.required = true, .accepts = "a host"});
  v.value("to", c.to, {.required = true, .accepts = "another host"});
  v.value("file", c.file,
          {.required = true,
           .accepts = "path of a pcap or pcapng file of IPv4 packets, relative to this file",
           .help = "each frame leaves as a UDP datagram of its size, with its DSCP and ECN bits, "
                   "when the capture has it; a frame that finds the NIC busy leaves later"});
  v.duration("start", c.start,
             {.range = durations_from(Duration::zero()), .help = "when the first frame is due"});
  v.value("rounds", c.rounds,
          {.range = integers_from(0),
           .help = "passes through the file, one mean gap apart; 0: until the run ends"});
  v.value("udp_port", c.udp_port, {.range = integers(1, 65535), .help = "of both hosts"});
}

}  // namespace outrider::tg
