#include "switch/config/lossless_config.h"

#include <array>
#include <string>

#include "switch/config/config.h"

namespace outrider::sw {

namespace {

constexpr std::uint64_t kMaxLosslessBytes = std::uint64_t{1} << 34;

void check_thresholds(const Checks& at, const LosslessConfig& c) {
  at.require(c.resume_bytes() < c.xoff_bytes, "xon_bytes", std::to_string(c.resume_bytes()) + " B",
             "must be below xoff_bytes, " + std::to_string(c.xoff_bytes) + " B");
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
  for (const auto& port : sw.ports) {
    const auto queues = queues_of(port);
    if (queue < queues.size() && queues[queue].queue.lossless.on())
      bytes += queues[queue].queue.lossless.room_bytes();
  }
  return bytes;
}

std::uint64_t lossless_room_bytes(const SwitchConfig& sw) {
  std::uint64_t bytes = 0;
  for (std::size_t q = 0; q < kMaxQueuesPerPort; ++q) bytes += lossless_room_bytes(sw, q);
  return bytes;
}

bool has_lossless(const SwitchConfig& sw) { return lossless_room_bytes(sw) != 0; }

void check_lossless(const Checks& at, const SwitchConfig& sw, const SwitchPortConfig& port) {
  const auto queues = queues_of(port);
  std::array<bool, 256> taken{};
  for (std::size_t q = 0; q < queues.size(); ++q) {
    const QueueConfig& queue = queues[q].queue;
    const Checks here = port.queues.empty() ? at.below("queue") : at.below("queues", q);
    if (const auto need = lossless_room_bytes(sw, q); need != 0) check_room(here, queue, need);
    if (!queue.lossless.on()) continue;
    check_thresholds(here.below("lossless"), queue.lossless);
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
                   "is paused; 0: the class may lose packets, and the rest does not matter"});
  v.bytes("xon_bytes", c.xon_bytes,
          {.range = integers(0, kMaxLosslessBytes, "bytes"),
           .accepts = "below `xoff_bytes`",
           .absent = "half of `xoff_bytes`",
           .help = "the same, from which the neighbour may go on"});
  v.bytes("headroom_bytes", c.headroom_bytes,
          {.range = integers(0, kMaxLosslessBytes, "bytes"),
           .help = "room above `xoff_bytes` for what comes until the pause acts; "
                   "[how much](pfc.md#headroom)"});
  v.value("priority", c.priority,
          {.range = integers(0, 7),
           .accepts = "another one than other lossless queues of the port have",
           .help = "of the class in pause frames"});
  v.value("pause_quanta", c.pause_quanta,
          {.range = integers(1, 65535),
           .help = "of 512 bit times, which a pause lasts unless it is renewed"});
  v.duration("watchdog", c.watchdog,
             {.range = durations_above_zero(),
              .absent = "none",
              .help = "for how long the neighbour may stop the queue without a packet leaving; "
                      "then its packets are dropped until the pause ends"});
}

}  // namespace outrider::sw
