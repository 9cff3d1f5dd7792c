#include "trafficgen/streams/stream_sender.h"

#include <rte_mempool.h>

#include <utility>

namespace outrider {
namespace {

/// Makes a buffer of the pool a packet of one segment: what rte_pktmbuf_alloc()
/// would do, less what holds for every free mbuf (next == nullptr, nb_segs and
/// refcnt 1).
void make_packet(Packet& packet, std::uint16_t bytes) noexcept {
  packet.data_off = RTE_PKTMBUF_HEADROOM;
  packet.ol_flags = 0;
  packet.packet_type = 0;
  packet.pkt_len = bytes;
  packet.data_len = bytes;
  packet.vlan_tci = 0;
}

std::uint64_t magnitude(Duration d) noexcept {
  return static_cast<std::uint64_t>(d.count() < 0 ? -d.count() : d.count());
}

}  // namespace

StreamSender::StreamSender(const StreamConfig& stream, std::uint32_t id,
                           std::shared_ptr<const StreamFlows> flows,
                           const StreamSchedule::Setup& setup, rte_mempool& pool)
    : schedule_(setup),
      frames_(stream, id, std::move(flows), schedule_.sizes()),
      pool_(pool),
      max_lag_(stream.max_lag) {}

std::uint16_t StreamSender::spare_buffers() noexcept {
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

void StreamSender::build(std::uint16_t n, std::uint64_t ticks) noexcept {
  for (std::uint16_t i = 0; i < n; ++i) {
    Packet& packet = *packets_[i];
    const Departure& d = departures_[i];
    make_packet(packet, frames_.buffer_bytes(d.size));
    frames_.write(static_cast<std::uint8_t*>(packet.buf_addr) + RTE_PKTMBUF_HEADROOM, d, ticks);
  }
}

void StreamSender::note_timing(std::uint16_t n, Time now) noexcept {
  const Time due = departures_[0].due;
  lateness_.record(magnitude(now - due), n);
  if (counters_.batches == 0) counters_.first = now;
  else gap_error_.record(magnitude((now - counters_.last) - (due - last_due_)));
  last_due_ = departures_[n - 1].due;
  if (n > 1) gap_error_.record(magnitude(last_due_ - due) / (n - 1U), n - 1U);
  counters_.last = now;
  ++counters_.batches;
  slot_ = schedule_.slot_end() - last_due_;
}

void StreamSender::note_sent(std::uint16_t first, std::uint16_t n, Time now) noexcept {
  counters_.sent += n;
  if (n != 0) counters_.last = now;
  for (std::uint16_t i = first; i < first + n; ++i)
    counters_.frame_bytes += schedule_.sizes()[departures_[i].size];
}

void StreamSender::limit_lag(Time now) noexcept {
  const Time next = schedule_.next();
  if (next == kNever || now - next <= max_lag_) [[likely]]
    return;
  ++counters_.slips;
  counters_.slipped += now - next;
  schedule_.postpone(now - next);
}

void StreamSender::finish() noexcept {
  counters_.abandoned += pending_;
  if (pending_ != 0) rte_pktmbuf_free_bulk(packets_.data() + first_pending_, pending_);
  if (spare_ != 0) rte_mempool_put_bulk(&pool_, reinterpret_cast<void**>(packets_.data()), spare_);
  pending_ = 0;
  spare_ = 0;
}

}  // namespace outrider
