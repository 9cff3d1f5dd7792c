#pragma once

#include <rte_mbuf.h>
#include <rte_mempool.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "common/core/clock.h"
#include "common/core/histogram.h"
#include "common/dpdk/packet/packet.h"
#include "common/dpdk/port/port.h"
#include "trafficgen/streams/engine/stream_schedule.h"

namespace outrider::tg {

/// One instant as the loop read it: the run's time, and the counter for the stamps (the TSC; in
/// virtual time nanoseconds).
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
  std::uint64_t buffer_waits = 0;  ///< polls for which the pool had no 32 buffers
  std::uint64_t slips = 0;         ///< times that the schedule was moved, for a lag beyond max_lag
  Duration slipped{};              ///< total by which it was moved
  std::uint64_t abandoned = 0;     ///< built, never taken by the device
  Time first{};                    ///< first and last departure; meaningful if sent > 0
  Time last{};
};

namespace batch_sender_detail {

/// Makes a buffer of the pool a packet of one segment. It does what rte_pktmbuf_alloc() does,
/// except what already holds for every free mbuf (next == nullptr, nb_segs and refcnt 1).
inline void make_packet(Packet& packet, std::uint16_t bytes) noexcept {
  packet.data_off = RTE_PKTMBUF_HEADROOM;
  packet.ol_flags = 0;
  packet.packet_type = 0;
  packet.pkt_len = bytes;
  packet.data_len = bytes;
  packet.vlan_tci = 0;
}

inline std::uint64_t magnitude(Duration d) noexcept {
  return static_cast<std::uint64_t>(d.count() < 0 ? -d.count() : d.count());
}

}  // namespace batch_sender_detail

/// Sends the packets of one schedule into one device, up to 32 per poll: it asks the schedule,
/// writes the frames and hands them over. Packets that the device does not take are kept and
/// stamped again at the next poll. No numbered packet is therefore lost before the network, and a
/// full ring never delays the poll.
///
/// @tparam Schedule has next(), take_due(), postpone(), slot_end(), taken()
/// @tparam Frames has write(bytes, departure, ticks), restamp(bytes, ticks),
///         buffer_bytes(size)
/// Not thread-safe (one lcore owns it).
template <class Schedule, class Frames>
class BatchSender {
 public:
  /// @param pool of make_packet_pool(), for whole frames. Bytes that Frames does not write must
  ///   stay zeros, so only senders of its kind may use the pool
  BatchSender(Schedule schedule, Frames frames, Duration max_lag, rte_mempool& pool)
      : schedule_(std::move(schedule)),
        frames_(std::move(frames)),
        pool_(pool),
        max_lag_(max_lag) {}
  ~BatchSender() { finish(); }
  BatchSender(const BatchSender&) = delete;
  BatchSender& operator=(const BatchSender&) = delete;

  /// Sends the packets that are due. @param device has `uint16_t tx(Packet**, uint16_t)`
  /// @return packets that the device took
  template <class Device>
  std::uint16_t poll(const Device& device, StreamInstant at) noexcept {
    if (pending_ != 0) [[unlikely]]
      return send_pending(device, at);
    if (schedule_.next() > at.now) return 0;
    return send_due(device, at);
  }

  /// Returns pending packets and spare buffers to the pool, and takes no more from the schedule.
  void finish() noexcept;

  /// Returns true if nothing more will be sent.
  [[nodiscard]] bool done() const noexcept { return pending_ == 0 && schedule_.next() == kNever; }
  [[nodiscard]] Time next() const noexcept { return schedule_.next(); }
  [[nodiscard]] std::uint16_t pending() const noexcept { return pending_; }
  [[nodiscard]] const Schedule& schedule() const noexcept { return schedule_; }
  /// For steering. Packets that the device has not taken yet leave all the same.
  [[nodiscard]] Schedule& schedule() noexcept { return schedule_; }
  [[nodiscard]] const StreamSendCounters& counters() const noexcept { return counters_; }
  /// Returns the time from the first departure to the end of the last one's slot. The achieved rate
  /// is the number of sent packets divided by it.
  [[nodiscard]] Duration time_covered() const noexcept {
    return counters_.last - counters_.first + slot_;
  }
  /// Returns actual - scheduled departure [ns]; a packet counts with the lateness of the first
  /// packet of its batch.
  [[nodiscard]] const Histogram& lateness() const noexcept { return lateness_; }
  /// Returns |actual gap - scheduled gap| to the previous packet [ns]. Packets of one batch have an
  /// actual gap of zero and count with their mean scheduled gap.
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

  Schedule schedule_;
  Frames frames_;
  rte_mempool& pool_;
  std::array<Packet*, kBatchPackets> packets_{};  ///< built packets first, then spare buffers
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

template <class Schedule, class Frames>
template <class Device>
std::uint16_t BatchSender<Schedule, Frames>::send_due(const Device& device,
                                                      StreamInstant at) noexcept {
  const std::uint16_t room = spare_buffers();
  const auto n = static_cast<std::uint16_t>(schedule_.take_due(at.now, {departures_.data(), room}));
  if (n == 0) [[unlikely]]
    return 0;
  build(n, at.ticks);
  note_timing(n, at.now);
  const std::uint16_t taken = device.tx(packets_.data(), n);
  note_sent(0, taken, at.now);
  if (taken == n) [[likely]] {
    // Move unused buffers to the front for the next batch.
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

template <class Schedule, class Frames>
template <class Device>
std::uint16_t BatchSender<Schedule, Frames>::send_pending(const Device& device,
                                                          StreamInstant at) noexcept {
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

template <class Schedule, class Frames>
std::uint16_t BatchSender<Schedule, Frames>::spare_buffers() noexcept {
  const auto wanted = static_cast<unsigned>(kBatchPackets - spare_);
  if (wanted != 0) {
    if (rte_mempool_get_bulk(&pool_, reinterpret_cast<void**>(packets_.data() + spare_), wanted) ==
        0) [[likely]] {
      spare_ = kBatchPackets;
    } else {
      ++counters_.buffer_waits;
    }
  }
  return spare_;
}

template <class Schedule, class Frames>
void BatchSender<Schedule, Frames>::build(std::uint16_t n, std::uint64_t ticks) noexcept {
  for (std::uint16_t i = 0; i < n; ++i) {
    Packet& packet = *packets_[i];
    const Departure& d = departures_[i];
    batch_sender_detail::make_packet(packet, frames_.buffer_bytes(d.size));
    frames_.write(static_cast<std::uint8_t*>(packet.buf_addr) + RTE_PKTMBUF_HEADROOM, d, ticks);
  }
}

template <class Schedule, class Frames>
void BatchSender<Schedule, Frames>::note_timing(std::uint16_t n, Time now) noexcept {
  const Time due = departures_[0].due;
  lateness_.record(batch_sender_detail::magnitude(now - due), n);
  if (counters_.batches == 0) counters_.first = now;
  else
    gap_error_.record(batch_sender_detail::magnitude((now - counters_.last) - (due - last_due_)));
  last_due_ = departures_[n - 1].due;
  if (n > 1) gap_error_.record(batch_sender_detail::magnitude(last_due_ - due) / (n - 1U), n - 1U);
  counters_.last = now;
  ++counters_.batches;
  slot_ = schedule_.slot_end() - last_due_;
}

template <class Schedule, class Frames>
void BatchSender<Schedule, Frames>::note_sent(std::uint16_t first, std::uint16_t n,
                                              Time now) noexcept {
  counters_.sent += n;
  if (n != 0) counters_.last = now;
  for (std::uint16_t i = first; i < first + n; ++i)
    counters_.frame_bytes += frames_.buffer_bytes(departures_[i].size) + kFcsBytes;
}

template <class Schedule, class Frames>
void BatchSender<Schedule, Frames>::limit_lag(Time now) noexcept {
  const Time next = schedule_.next();
  if (next == kNever || now - next <= max_lag_) [[likely]]
    return;
  ++counters_.slips;
  counters_.slipped += now - next;
  schedule_.postpone(now - next);
}

template <class Schedule, class Frames>
void BatchSender<Schedule, Frames>::finish() noexcept {
  counters_.abandoned += pending_;
  if (pending_ != 0) rte_pktmbuf_free_bulk(packets_.data() + first_pending_, pending_);
  if (spare_ != 0) rte_mempool_put_bulk(&pool_, reinterpret_cast<void**>(packets_.data()), spare_);
  pending_ = 0;
  spare_ = 0;
}

}  // namespace outrider::tg
