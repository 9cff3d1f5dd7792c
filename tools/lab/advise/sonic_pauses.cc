#include <algorithm>
#include <cmath>

#include "tools/lab/advise/sonic_parts.h"
#include "tools/lab/experiment/headroom.h"

namespace outrider::lab {
namespace {

constexpr const char* kIngressPool = "ingress_lossless_pool";
constexpr const char* kEgressPool = "egress_lossless_pool";
constexpr const char* kEgressProfile = "OUTRIDER_egress_lossless";

/// "OUTRIDER_3_100000_100m": class, Mbit/s and metres, as SONiC names its own.
std::string profile_name(const std::string& number, const SonicPort& port) {
  constexpr std::int64_t kNsPerMetre = 5;
  constexpr std::uint64_t kMega = 1'000'000;
  const std::int64_t metres = (port.delay.count() + kNsPerMetre - 1) / kNsPerMetre;
  return std::string(kSonicName) + '_' + number + '_' +
         std::to_string(port.rate.bits_per_second / kMega) + '_' + std::to_string(metres) + 'm';
}

/// The memory of a switch whose neighbours are devices.
struct Room {
  std::uint64_t size = 0;
  std::uint64_t headroom = 0;  ///< of all ports and lossless classes
  std::uint64_t own = 0;       ///< and a frame and what waits at a fixed XOFF of each
};

Room room_of_devices(const sw::SwitchConfig& of, const SonicClasses& classes,
                     const std::vector<SonicPort>& ports, std::uint32_t frame_bytes,
                     std::uint32_t largest_frame) {
  Room room;
  for (const SonicPort& port : ports)
    for (const auto& [number, settings] : classes.queues) {
      if (!settings.queue.lossless.on()) continue;
      room.headroom += device_headroom_bytes(port.rate, port.delay, largest_frame);
      room.own += settings.queue.lossless.xoff_bytes + frame_bytes;
    }
  room.own += room.headroom;
  room.size = of.buffer.total_bytes.value_or(room.own);
  return room;
}

/// Returns the profile of a lossless class but for its headroom; null if its threshold has no
/// counterpart. A port goes on that much below the threshold: with a dynamic one, half of the
/// threshold of a class that has the shared part for itself, as SONiC has no share of a threshold.
/// @param frame_bytes  that are reserved, and may always wait when a port goes on: with 0 a full
///                     buffer would have to be empty first
SonicJson threshold_of(const sw::LosslessConfig& c, std::uint64_t shared,
                       std::uint32_t frame_bytes) {
  constexpr long kLeastExponent = -8, kMostExponent = 7;  // of BUFFER_PROFILE's dynamic_th
  SonicJson fields{{"pool", kIngressPool}};
  std::uint64_t below = c.xoff_bytes - c.resume_bytes();
  if (c.xoff_alpha) {
    const long exponent = std::lround(std::log2(*c.xoff_alpha));
    if (exponent < kLeastExponent || exponent > kMostExponent) return nullptr;
    const double half = *c.xoff_alpha / (1 + *c.xoff_alpha) / 2 * static_cast<double>(shared);
    fields["dynamic_th"] = std::to_string(exponent);
    below = c.xon_offset_bytes.value_or(static_cast<std::uint64_t>(half));
  } else {
    fields["static_th"] = std::to_string(c.xoff_bytes);
  }
  fields["xon_offset"] = std::to_string(below);
  fields["xon"] = std::to_string(frame_bytes);
  return fields;
}

/// Adds the watchdog with what `pfcwd start_default` sets, by the number of ports. Source:
/// sonic-net/sonic-utilities, pfcwd/main.py.
void add_watchdog(const std::vector<SonicPort>& ports, SonicJson& out) {
  constexpr std::size_t kDefaultMs = 200, kDefaultPorts = 32, kMostPollMs = 1000;
  const std::size_t ms = kDefaultMs * ((ports.size() - 1) / kDefaultPorts + 1);
  out["GLOBAL"] = {{"POLL_INTERVAL", std::to_string(std::min(ms, kMostPollMs))}};
  for (const SonicPort& port : ports)
    out[port.name] = {{"action", "drop"},
                      {"detection_time", std::to_string(ms)},
                      {"restoration_time", std::to_string(ms)}};
}

}  // namespace

SonicJson sonic_pauses(const Case& c, const sw::SwitchConfig& of, const SonicClasses& classes,
                       const std::vector<SonicPort>& ports, std::uint32_t frame_bytes) {
  const std::uint32_t largest_frame = longest_packet_bytes(c) + kEthernetBytes;
  const Room room = room_of_devices(of, classes, ports, frame_bytes, largest_frame);
  if (room.headroom == 0) return SonicJson::object();
  if (room.own > room.size) return nullptr;
  SonicJson profiles, groups, queues;
  bool dynamic = false;
  for (const auto& [number, settings] : classes.queues) {
    const sw::LosslessConfig& lossless = settings.queue.lossless;
    if (!lossless.on()) continue;
    dynamic |= lossless.xoff_alpha.has_value();
    const SonicJson threshold = threshold_of(lossless, room.size - room.headroom, frame_bytes);
    if (threshold.is_null()) return nullptr;
    for (const SonicPort& port : ports) {
      const std::string name = profile_name(number, port);
      const auto headroom = device_headroom_bytes(port.rate, port.delay, largest_frame);
      SonicJson profile = threshold;
      profile["xoff"] = std::to_string(headroom);
      profile["size"] = std::to_string(frame_bytes + headroom);
      profiles[name] = profile;
      groups[port.name + '|' + number] = {{"profile", name}};
      queues[port.name + '|' + number] = {{"profile", kEgressProfile}};
    }
  }
  // A queue that may hold the whole pool drops nothing before the ports have paused.
  const std::string size = std::to_string(room.size);
  profiles[kEgressProfile] = {{"pool", kEgressPool}, {"size", "0"}, {"static_th", size}};
  const SonicJson ingress{
      {"type", "ingress"}, {"mode", dynamic ? "dynamic" : "static"}, {"size", size}};
  const SonicJson egress{{"type", "egress"}, {"mode", "static"}, {"size", size}};
  SonicJson out{{"BUFFER_POOL", {{kIngressPool, ingress}, {kEgressPool, egress}}},
                {"BUFFER_PROFILE", profiles},
                {"BUFFER_PG", groups},
                {"BUFFER_QUEUE", queues}};
  add_watchdog(ports, out["PFC_WD"]);
  return out;
}

}  // namespace outrider::lab
