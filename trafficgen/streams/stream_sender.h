#pragma once

#include <rte_mbuf.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>

#include "common/core/clock.h"
#include "common/core/histogram.h"
#include "common/dpdk/packet.h"
#include "common/dpdk/port.h"
#include "trafficgen/streams/stream_frames.h"
#include "trafficgen/streams/stream_schedule.h"

namespace outrider {

/// One instant as the loop read it: the run's time, and the counter that goes
/// into the stamps (the TSC; in virtual time nanoseconds).
struct StreamInstant {
  Time now{};
  std::uint64_t ticks = 0;
};

/// Identity: schedule.taken() == sent + pending + abandoned.
struct StreamSendCounters {
  std::uint64_t sent = 0;         ///< packets that the device took
  std::uint64_t frame_bytes = 0;  ///< of these, FCS included
  std::uint64_t batches = 0;
  std::uint64_t ring_full = 0;     ///< polls at which the device did not take all
  std::uint64_t buffer_waits = 0;  ///< polls at which the pool had no 32 buffers
  std::uint64_t slips = 0;         ///< times that the schedule was moved: lag beyond max_lag
  Duration slipped{};              ///< by so much in all
  std::uint64_t abandoned = 0;     ///< built, never taken by the device
  Time first{};                    ///< first and last departure; meaningful if sent > 0
  Time last{};
};

/// Sends one stream into one device, up to 32 packets a poll: asks the schedule,
/// writes the frames, hands them over. What the device does not take stays here
/// and is stamped anew at the next poll: nothing that was numbered is lost before
/// the network, and a full ring never holds up the poll.
///
/// Not thread-safe (one lcore owns it).
class StreamSender {
 public:
  /// @param stream valid, with a device
  /// @param pool of make_packet_pool(), for whole frames; only senders may write
  ///        into its buffers: what lies behind the head stays zeros
  StreamSender(const StreamConfig& stream, std::uint32_t id,
               std::shared_ptr<const StreamFlows> flows, const StreamSchedule::Setup& setup,
               rte_mempool& pool);
  ~StreamSender() { finish(); }
  StreamSender(const StreamSender&) = delete;
  StreamSender& operator=(const StreamSender&) = delete;

  /// Sends what is due. @param device has `uint16_t tx(Packet**, uint16_t)`
  /// @return packets that the device took
  template <class Device>
  std::uint16_t poll(const Device& device, StreamInstant at) noexcept {
    if (pending_ != 0) [[unlikely]]
      return send_pending(device, at);
    if (schedule_.next() > at.now) return 0;
    return send_due(device, at);
  }

  /// Gives pending packets and spare buffers back, and takes no more from the
  /// schedule.
  void finish() noexcept;

  /// Nothing is to come.
  [[nodiscard]] bool done() const noexcept { return pending_ == 0 && schedule_.next() == kNever; }
  [[nodiscard]] Time next() const noexcept { return schedule_.next(); }
  [[nodiscard]] std::uint16_t pending() const noexcept { return pending_; }
  [[nodiscard]] const StreamSchedule& schedule() const noexcept { return schedule_; }
  [[nodiscard]] const StreamSendCounters& counters() const noexcept { return counters_; }
  /// From the first departure to the end of the last one's slot: sent packets
  /// divided by it are the achieved rate.
  [[nodiscard]] Duration time_covered() const noexcept {
    return counters_.last - counters_.first + slot_;
  }
  /// Actual departure - scheduled departure [ns]; a packet counts with the
  /// lateness of the first of its batch.
  [[nodiscard]] const Histogram& lateness() const noexcept { return lateness_; }
  /// |actual gap - scheduled gap| to the packet before [ns]. Packets of one batch
  /// have an actual gap of zero and count with their mean scheduled gap.
  [[nodiscard]] const Histogram& gap_error() const noexcept { return gap_error_; }

 private:
  template <class Device>
  std::uint16_t send_due(const Device& device, StreamInstant at) noexcept;
  template <class Device>
  std::uint16_t send_pending(const Device& device, StreamInstant at) noexcept;
  [[nodiscard]] std::uint16_t spare_buffers() noexcept;
  void build(std::uint16_t n, std::uint64_t ticks) noexcept;
  void note_sent(std::uint16_t first, std::uint16_t n, Time now) noexcept;
  void note_timing(std::uint16_t n, Time now) noexcept;
  void limit_lag(Time now) noexcept;

  StreamSchedule schedule_;
  StreamFrames frames_;
  rte_mempool& pool_;
  std::array<Packet*, kBatchPackets> packets_{};  ///< built from the front, spare behind
  std::array<Departure, kBatchPackets> departures_{};
  std::uint16_t spare_ = 0;    ///< packets_[0, spare_) may be built; 0 while pending
  std::uint16_t pending_ = 0;  ///< packets_[first_pending_, + pending_) wait for the device
  std::uint16_t first_pending_ = 0;
  Duration max_lag_;
  Duration slot_{};  ///< from the last departure's due time to the end of its slot
  Time last_due_{};
  StreamSendCounters counters_;
  Histogram lateness_;
  Histogram gap_error_;
};

template <class Device>
std::uint16_t StreamSender::send_due(const Device& device, StreamInstant at) noexcept {
  const std::uint16_t room = spare_buffers();
  const auto n = static_cast<std::uint16_t>(schedule_.take_due(at.now, {departures_.data(), room}));
  if (n == 0) [[unlikely]]
    return 0;
  build(n, at.ticks);
  note_timing(n, at.now);
  const std::uint16_t taken = device.tx(packets_.data(), n);
  note_sent(0, taken, at.now);
  if (taken == n) [[likely]] {
    // Buffers that were not needed move to the front for the next batch.
    std::copy(packets_.begin() + n, packets_.begin() + spare_, packets_.begin());
    spare_ = static_cast<std::uint16_t>(spare_ - n);
  } else {
    ++counters_.ring_full;
    if (spare_ > n)
      rte_mempool_put_bulk(&pool_, reinterpret_cast<void**>(packets_.data() + n),
                           static_cast<unsigned>(spare_ - n));
    spare_ = 0;
    first_pending_ = taken;
    pending_ = static_cast<std::uint16_t>(n - taken);
  }
  limit_lag(at.now);
  return taken;
}

template <class Device>
std::uint16_t StreamSender::send_pending(const Device& device, StreamInstant at) noexcept {
  for (std::uint16_t i = 0; i < pending_; ++i)
    frames_.restamp(rte_pktmbuf_mtod(packets_[first_pending_ + i], std::uint8_t*), at.ticks);
  const std::uint16_t taken = device.tx(packets_.data() + first_pending_, pending_);
  note_sent(first_pending_, taken, at.now);
  first_pending_ = static_cast<std::uint16_t>(first_pending_ + taken);
  pending_ = static_cast<std::uint16_t>(pending_ - taken);
  if (pending_ != 0) ++counters_.ring_full;
  limit_lag(at.now);
  return taken;
}

}  // namespace outrider
