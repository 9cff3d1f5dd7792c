#include "switch/config/lossless_config.h"

#include <algorithm>
#include <array>
#include <string>

#include "common/config/toml_text.h"
#include "switch/config/config.h"

namespace outrider::sw {

namespace {

constexpr std::uint64_t kMaxLosslessBytes = std::uint64_t{1} << 34;

SettingRange alphas() { return reals(1e-3, 1e3); }

void check_fixed(const Checks& at, const LosslessConfig& c) {
  at.require(c.resume_bytes() < c.xoff_bytes, "xon_bytes", std::to_string(c.resume_bytes()) + " B",
             "must be below xoff_bytes, " + std::to_string(c.xoff_bytes) + " B");
  if (c.xon_offset_bytes)
    at.fault("xon_offset_bytes", std::to_string(*c.xon_offset_bytes) + " B",
             "belongs to xoff_alpha; with xoff_bytes set xon_bytes");
}

void check_dynamic(const Checks& at, const SwitchConfig& sw, const LosslessConfig& c) {
  if (!alphas().breach(*c.xoff_alpha).empty()) return;
  const std::string alpha = to_toml_text(ConfigValue(*c.xoff_alpha));
  if (c.xon_bytes)
    at.fault("xon_bytes", std::to_string(*c.xon_bytes) + " B",
             "belongs to xoff_bytes; with xoff_alpha set xon_offset_bytes");
  if (!at.require(c.xoff_bytes == 0, "xoff_alpha", alpha,
                  "excludes xoff_bytes: a threshold is fixed or dynamic") ||
      !at.require(sw.buffer.total_bytes.has_value(), "xoff_alpha", alpha,
                  "needs total_bytes in [switch.buffer], of which it is a share"))
    return;
  const std::uint64_t shared = shared_part_bytes(sw);
  const auto most = static_cast<std::uint64_t>(*c.xoff_alpha * static_cast<double>(shared));
  const std::string of = std::to_string(most) + " B: xoff_alpha times the " +
                         std::to_string(shared) + " B that queues share";
  if (at.require(
          most >= kFullFrameBytes, "xoff_alpha", alpha,
          "must let a frame of " + std::to_string(kFullFrameBytes) + " B in, and allows " + of) &&
      c.xon_offset_bytes)
    at.require(*c.xon_offset_bytes < most, "xon_offset_bytes",
               std::to_string(*c.xon_offset_bytes) + " B",
               "must be below the largest threshold, " + of);
}

/// Small packets may still fill a queue that is limited in packets: these are dropped there.
void check_room(const Checks& at, const QueueConfig& queue, std::uint64_t need) {
  const std::uint64_t packets = (need + kFullFrameBytes - 1) / kFullFrameBytes;
  at.require(queue.limit_packets >= packets, "limit_packets",
             std::to_string(queue.limit_packets) + " packets",
             "must hold the " + std::to_string(need) +
                 " B that lossless queues of all ports may bring, " + std::to_string(packets) +
                 " full frames");
  if (queue.limit_bytes)
    at.require(
        *queue.limit_bytes >= need, "limit_bytes", std::to_string(*queue.limit_bytes) + " B",
        "must hold the " + std::to_string(need) + " B that lossless queues of all ports may bring");
}

}  // namespace

std::uint64_t lossless_room_bytes(const SwitchConfig& sw, std::size_t queue) {
  std::uint64_t bytes = 0;
  bool shares = false;
  for (const auto& port : sw.ports) {
    const auto queues = queues_of(port);
    if (queue >= queues.size() || !queues[queue].queue.lossless.on()) continue;
    bytes += queues[queue].queue.lossless.own_bytes();
    shares |= queues[queue].queue.lossless.xoff_alpha.has_value();
  }
  return shares && sw.buffer.total_bytes ? bytes + shared_part_bytes(sw) : bytes;
}

std::uint64_t lossless_own_bytes(const SwitchConfig& sw) {
  std::uint64_t bytes = 0;
  for (const auto& port : sw.ports)
    for (const auto& queue : queues_of(port))
      if (queue.queue.lossless.on()) bytes += queue.queue.lossless.own_bytes();
  return bytes;
}

std::uint64_t shared_part_bytes(const SwitchConfig& sw) {
  std::uint64_t own = lossless_own_bytes(sw);
  for (const auto& port : sw.ports)
    for (const auto& queue : queues_of(port)) own += queue.queue.reserved_bytes;
  return *sw.buffer.total_bytes - std::min(own, *sw.buffer.total_bytes);
}

bool has_lossless(const SwitchConfig& sw) {
  return std::ranges::any_of(sw.ports, [](const SwitchPortConfig& port) {
    return std::ranges::any_of(
        queues_of(port), [](const PortQueueConfig& queue) { return queue.queue.lossless.on(); });
  });
}

void check_lossless(const Checks& at, const SwitchConfig& sw, const SwitchPortConfig& port) {
  const auto queues = queues_of(port);
  std::array<bool, 256> taken{};
  for (std::size_t q = 0; q < queues.size(); ++q) {
    const QueueConfig& queue = queues[q].queue;
    const Checks here = port.queues.empty() ? at.below("queue") : at.below("queues", q);
    if (const auto need = lossless_room_bytes(sw, q); need != 0) check_room(here, queue, need);
    if (!queue.lossless.on()) continue;
    if (queue.lossless.xoff_alpha) check_dynamic(here.below("lossless"), sw, queue.lossless);
    else check_fixed(here.below("lossless"), queue.lossless);
    here.below("lossless")
        .require(!taken[queue.lossless.priority], "priority",
                 std::to_string(queue.lossless.priority), "another queue of the port has it");
    taken[queue.lossless.priority] = true;
  }
}

void describe(Settings& v, LosslessConfig& c) {
  v.bytes("xoff_bytes", c.xoff_bytes,
          {.range = integers(0, kMaxLosslessBytes, "bytes"),
           .help = "what the port has brought and the switch still holds, from which the neighbour "
                   "is paused; 0 without `xoff_alpha`: the class may lose packets, and the rest "
                   "does not matter"});
  v.bytes("xon_bytes", c.xon_bytes,
          {.range = integers(0, kMaxLosslessBytes, "bytes"),
           .accepts = "below `xoff_bytes`",
           .absent = "half of `xoff_bytes`",
           .help = "the same, from which the neighbour may go on"});
  v.value("xoff_alpha", c.xoff_alpha,
          {.range = alphas(),
           .accepts = "only with `switch.buffer.total_bytes`, without `xoff_bytes`",
           .absent = "`xoff_bytes` is the threshold",
           .help = "dynamic XOFF: the neighbour is paused at so many times what is "
                   "[free of the shared buffer](pfc.md#dynamic-xoff)"});
  v.bytes("xon_offset_bytes", c.xon_offset_bytes,
          {.range = integers(0, kMaxLosslessBytes, "bytes"),
           .accepts = "only with `xoff_alpha`",
           .absent = "half of the threshold",
           .help = "how far below that threshold the neighbour may go on"});
  v.bytes("headroom_bytes", c.headroom_bytes,
          {.range = integers(0, kMaxLosslessBytes, "bytes"),
           .help = "room above XOFF for what comes until the pause acts; "
                   "[how much](pfc.md#headroom)"});
  v.value("priority", c.priority,
          {.range = integers(0, 7),
           .accepts = "another one than other lossless queues of the port have",
           .help = "of the class in pause frames"});
  v.value("pause_quanta", c.pause_quanta,
          {.range = integers(kLeastPauseQuanta, 65535),
           .help = "of 512 bit times, which a pause lasts unless it is renewed. Frames that renew "
                   "shorter ones would take more than a tenth of the link"});
  v.duration("watchdog", c.watchdog,
             {.range = durations_above_zero(),
              .absent = "none",
              .help = "for how long the neighbour may stop the queue without a packet leaving; "
                      "then its packets are dropped until the pause ends"});
}

}  // namespace outrider::sw
