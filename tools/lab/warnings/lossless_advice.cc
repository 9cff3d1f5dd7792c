#include "tools/lab/warnings/lossless_advice.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include "common/config/quantities.h"
#include "switch/config/config.h"
#include "tools/lab/experiment/headroom.h"

namespace outrider::lab {
namespace {

bool hosts_are_deaf(const Case& c) {
  return std::ranges::any_of(c.traffic.transports, [&c](const tg::TransportConfig& t) {
    return t.protocol == tg::TransportProtocol::kRoce && !t.tcp.priority &&
           std::ranges::count(c.traffic.jobs, t.name, &tg::JobConfig::transport) != 0;
  });
}

/// A port whose headroom does not hold what its link may bring.
struct Lack {
  std::string port;
  BitRate rate{};
  Duration delay{};
  std::uint32_t frame_bytes = 0;
  std::uint64_t needed_bytes = 0;
  std::uint64_t headroom_bytes = 0;

  [[nodiscard]] std::uint64_t bytes() const { return needed_bytes - headroom_bytes; }
};

/// Puts the port of the case that lacks most in the place of one that lacks less.
void look_for_lacks(const Case& c, Lack& most) {
  const std::uint32_t frame_bytes = longest_packet_bytes(c) + kEthernetBytes;
  const auto delays = trunk_delays(c);
  for (const sw::SwitchConfig& one : c.switches.switches)
    for (const sw::SwitchPortConfig& port : one.ports) {
      const std::string name = one.name + '.' + port.name;
      const auto link = delays.find(name);
      const Duration delay = link == delays.end() ? port.delay : link->second;
      const std::uint64_t needed = headroom_needed_bytes(port.drain_rate, delay, frame_bytes);
      for (const sw::PortQueueConfig& queue : sw::queues_of(port)) {
        const sw::LosslessConfig& lossless = queue.queue.lossless;
        if (!lossless.on() || lossless.headroom_bytes >= needed) continue;
        const Lack lack{name, port.drain_rate, delay, frame_bytes, needed, lossless.headroom_bytes};
        if (lack.bytes() > most.bytes()) most = lack;
      }
    }
}

/// Warns of pauses that the hosts of bursts over RoCEv2 do not hear.
void add_of_deaf_hosts(const Case& c, ConfigIssues& found) {
  if (!hosts_are_deaf(c)) return;
  for (const sw::PortQueueConfig& queue : sw::queues_of(c.switches.switches.front().ports.front()))
    if (queue.queue.lossless.on())
      found.push_back(
          {"switch.queue.lossless",
           "hosts obey no pauses, so the headroom overflows: set ddl.transport.priority = " +
               std::to_string(queue.queue.lossless.priority) +
               ", and background.transport.priority if that shares the queue"});
}

}  // namespace

ConfigIssues lossless_advice(std::span<const Case> cases) {
  ConfigIssues found;
  Lack most;
  for (const Case& c : cases) {
    if (c.switches.switches.empty() || c.switches.switches.front().ports.empty()) continue;
    add_of_deaf_hosts(c, found);
    look_for_lacks(c, most);
  }
  if (most.bytes() == 0) return found;
  found.push_back({"switch.queue.lossless.headroom_bytes",
                   std::to_string(most.headroom_bytes) + " B: after XOFF, the link of \"" +
                       most.port + "\" (" + format_rate(most.rate) + ", " +
                       format_duration(most.delay) + " one way) may bring " +
                       std::to_string(most.needed_bytes) + " B (rate x 2 delays + 2 frames of " +
                       std::to_string(most.frame_bytes) +
                       " B + 84 B), and what exceeds the headroom is dropped; set at least that"});
  return found;
}

}  // namespace outrider::lab
