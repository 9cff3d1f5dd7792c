#include "trafficgen/hosts/host_nic.h"

#include <cstddef>

#include "trafficgen/frames/stale_trailer.h"

namespace outrider::tg {

namespace {
/// Answers to STARTs and to segments of no connection, after which waiting data get a turn. A flood
/// of either leaves a sixth of the wire to data.
constexpr std::uint32_t kRepliesInARow = 64;
constexpr std::size_t kPrefetchAhead = 4;  // entries of the queue: the connection,
constexpr std::size_t kFlightAhead = 2;    // and its flight once the connection is there
}  // namespace

HostNic::HostNic(HostParts& parts, HostConnections& connections, rte_mempool& pool)
    : host_(parts),
      connections_(connections),
      wire_({.rate = parts.setup.rate,
             .mtu_bytes = parts.setup.mtu_bytes,
             .send_jitter = parts.setup.send_jitter,
             .seed = parts.setup.seed,
             .index = parts.setup.index},
            pool) {}

/// Writes what goes before data. Replies, which anyone can ask for, are counted while data wait.
HostNic::Wrote HostNic::write_first(Packet& packet, Time start) noexcept {
  if (!has_replies()) return Wrote::kNothing;
  if (host_.storm.waits()) {
    host_.storm.write(packet, host_.setup.address);
    return Wrote::kOther;
  }
  const bool signal = !host_.signals.empty();
  if (host_.turns.empty()) replies_in_a_row_ = 0;
  else if (!signal || host_.signals.next_is_answer()) ++replies_in_a_row_;
  if (signal) host_.signals.write(packet, start, host_.setup.full_payload);
  else host_.strays.write(packet, host_.setup.full_payload);
  return signal ? Wrote::kSignal : Wrote::kOther;
}

/// Prefetches waiting connections: those of a long queue are no longer in the cache.
void HostNic::prefetch_waiting() noexcept {
  const auto connection = [this](std::size_t behind) -> ConnectionTable::Slot* {
    const NicQueue& queue = host_.turns.queue();
    if (queue.size() <= behind) return nullptr;
    const std::uint32_t index = queue.peek(behind);
    return (index & HostDatagrams::kBit) == 0 ? &connections_.table()[index] : nullptr;
  };
  if (const auto* next = connection(kPrefetchAhead)) tg::prefetch(*next);
  if (auto* next = connection(kFlightAhead)) prefetch_flight(*next);
}

/// Writes the next segment of the connection, or datagram of the endpoint, whose turn it is. One
/// that may not send now is put aside, and stays queued.
inline bool HostNic::write_ready(Packet& packet, Time now, Time start) noexcept {
  while (!host_.turns.empty()) {
    const std::uint32_t index = host_.turns.take(now);
    prefetch_waiting();
    const auto waits = [&](const auto& slot) {
      return host_.pauses.puts_aside(slot.priority, slot.nic_class, index);
    };
    if ((index & HostDatagrams::kBit) != 0) {
      const std::uint32_t number = index & ~HostDatagrams::kBit;
      if (waits(host_.datagrams[number])) continue;
      if (host_.datagrams.write(number, packet, now)) return true;
      continue;
    }
    ConnectionTable::Slot& slot = connections_.table()[index];
    if (waits(slot)) continue;
    if (connections_.write(slot, packet, now, start)) return true;
  }
  return false;
}

/// @return kNothing if there was nothing to send after all
inline HostNic::Wrote HostNic::write_next(Packet& packet, Time now, Time start) noexcept {
  const bool turn_of_data = replies_in_a_row_ >= kRepliesInARow && !host_.turns.empty();
  if (!turn_of_data && has_replies()) {
    const Wrote wrote = write_first(packet, start);
    if (wrote != Wrote::kNothing) return wrote;
  }
  replies_in_a_row_ = 0;
  if (write_ready(packet, now, start)) return Wrote::kOther;
  return turn_of_data ? write_first(packet, start) : Wrote::kNothing;
}

/// Sends what goes next. @return false if nothing could be sent
inline bool HostNic::send_next(Time now) noexcept {
  Packet* packet = wire_.take_buffer(host_.counters, now);
  if (packet == nullptr) return false;
  clear_trailer(*packet);
  const Time start = wire_.start_at(now);
  meta(*packet).has_slot = false;
  const Wrote wrote = write_next(*packet, now, start);
  if (wrote == Wrote::kNothing) {
    release(packet);
    return false;
  }
  const Time finish = wire_.occupy(*packet, start);
  if (host_.attribution)
    host_.attribution->on_service(*packet, wrote == Wrote::kSignal, start, finish);
  host_.counters.count_sent(*packet);
  host_.datagrams.sent(finish);
  wire_.push(packet, finish);
  return true;
}

Time HostNic::send(Time now) noexcept {
  bool work = true;
  while (work && wire_.is_free(now)) {
    const bool sent = send_next(now);
    work = has_work();
    if (!sent) break;
  }
  return work ? wire_.next() : kNever;
}

}  // namespace outrider::tg
