#include "trafficgen/measure/connection_series.h"

#include "common/config/addresses.h"
#include "trafficgen/transport/sender/send_pacing.h"

namespace outrider::tg {

bool sample(const TcpConnection& connection, ConnectionSample& out) noexcept {
  if (connection.stream().written_bytes() == 0) return false;
  const SendState& state = connection.sender().state();
  const CongestionControl& control = state.window.control();
  const TcpCounters& counters = connection.counters();
  const Duration srtt = state.timer.srtt();
  out = {.transport = "tcp",
         .mss_bytes = state.stream.mss_bytes(),
         .cwnd_bytes = state.window.bytes(),
         .ssthresh_bytes = control.ssthresh_bytes(),
         .alpha = control.alpha(),
         .in_flight_bytes = state.scoreboard.pipe_bytes(),
         .acked_bytes = connection.stream().acked_bytes(),
         .retransmitted = counters.retransmitted,
         .rtos_data = counters.rtos_data,
         .fast_recoveries = counters.fast_recoveries,
         .ece_reductions = counters.ece_reductions};
  if (srtt != Duration::zero()) out.srtt_ns = srtt.count();
  const bool paced = state.context.config.pacing || control.fixed_rate().bits_per_second != 0;
  const BitRate rate = paced ? SendPacing::rate(state.window, srtt) : BitRate{};
  if (rate.bits_per_second != 0) out.rate_bits_per_second = rate.bits_per_second;
  return true;
}

std::vector<ConnectionSample> ConnectionSeries::of_host(
    std::uint32_t host, const std::string& name,
    const std::map<std::uint32_t, std::string>& names) const {
  std::vector<ConnectionSample> all;
  for (const Kept& k : samples_) {
    if (k.host != host) continue;
    ConnectionSample& one = all.emplace_back(k.sample);
    one.host = name;
    const auto peer = names.find(k.peer_address);
    one.peer = peer != names.end() ? peer->second : format_ipv4(k.peer_address);
  }
  return all;
}

}  // namespace outrider::tg
