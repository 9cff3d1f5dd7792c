#include "trafficgen/measure/live.h"

#include <algorithm>
#include <string>

#include "common/telemetry/add_fields.h"

namespace outrider::tg {

void add(TrafficLive& to, const TrafficLive& more) {
  to.at_ns = std::max(to.at_ns, more.at_ns);
  to.longest_poll_gap_ns = std::max(to.longest_poll_gap_ns, more.longest_poll_gap_ns);
  add_fields(to, more);
  for (std::size_t d = 0; d < kMaxDevices; ++d) to.device_l1_bytes[d] += more.device_l1_bytes[d];
}

std::vector<LiveFigure> live_figures(const TrafficLive& before, const TrafficLive& now) {
  using FigureKind = LiveFigure::Kind;
  std::vector<LiveFigure> figures;
  const auto rate = [&](const char* name, FigureKind kind, std::uint64_t was, std::uint64_t is) {
    figures.push_back({name, kind, was, is});
  };
  // Figures that stay zero in a run are left out.
  const auto if_any = [&](const std::string& name, FigureKind kind, std::uint64_t was,
                          std::uint64_t is) {
    if (is != 0) figures.push_back({name, kind, was, is});
  };
  rate("sent", FigureKind::kPackets, before.sent, now.sent);
  rate("sent L2", FigureKind::kBytes, before.sent_bytes, now.sent_bytes);
  rate("received", FigureKind::kPackets, before.received, now.received);
  rate("received L2", FigureKind::kBytes, before.received_bytes, now.received_bytes);
  if_any("ddl payload", FigureKind::kBytes, before.delivered_bytes[TrafficClass::kDdl],
         now.delivered_bytes[TrafficClass::kDdl]);
  if_any("background payload", FigureKind::kBytes,
         before.delivered_bytes[TrafficClass::kBackground],
         now.delivered_bytes[TrafficClass::kBackground]);
  const auto count = [&](const std::string& name, std::uint64_t is) {
    if_any(name, FigureKind::kCount, 0, is);
  };
  count("bursts", now.bursts);
  count("iterations", now.iterations);
  if (now.flows_open + now.flows_completed != 0)
    figures.push_back({"flows open", FigureKind::kCount, 0, now.flows_open});
  count("flows completed", now.flows_completed);
  count("flows failed", now.flows_failed);
  count("requests", now.requests);
  count("transfers", now.transfers);
  count("retransmitted", now.tcp_events.retransmitted);
  if (now.stream_received != 0) figures.push_back({"lost", FigureKind::kCount, 0, now.stream_lost});
  for (std::size_t i = 0; i < now.drops.size(); ++i)
    count("dropped " + std::string(kDropReasonNames[i]), now.drops[i]);
  return figures;
}

std::vector<LiveFigure> live_figures(const GeneratorLive& before, const GeneratorLive& now) {
  std::vector<LiveFigure> figures = live_figures(before.counts, now.counts);
  for (std::size_t d = 0; d < now.devices.size(); ++d)
    figures.push_back({.name = "link " + now.devices[d].name,
                       .kind = LiveFigure::Kind::kLink,
                       .before = before.devices.empty() ? 0 : before.devices[d].sent_l1_bytes,
                       .now = now.devices[d].sent_l1_bytes,
                       .rate = now.devices[d].line_rate});
  return figures;
}

}  // namespace outrider::tg
