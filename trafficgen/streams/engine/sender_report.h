#pragma once

#include "common/core/units.h"
#include "trafficgen/measure/stream_report.h"
#include "trafficgen/streams/engine/stream_config.h"

namespace outrider::tg {

/// Returns the bits of packets at a layer. @param frame_bytes of all packets, FCS included
[[nodiscard]] constexpr double bits_at(RateLayer layer, double packets,
                                       double frame_bytes) noexcept {
  const double overhead = layer == RateLayer::kL1 ? kL1OverheadBytes - kFcsBytes : 0;
  return 8 * (frame_bytes + overhead * packets);
}

/// Fills in what a sender has counted. @tparam Sender a BatchSender
template <class Sender>
void fill_counts(StreamSentCounts& r, const Sender& sender) noexcept {
  const auto& c = sender.counters();
  r.scheduled = sender.schedule().taken();
  r.sent = c.sent;
  r.sent_frame_bytes = c.frame_bytes;
  r.abandoned = c.abandoned + sender.pending();
  r.ring_full = c.ring_full;
  r.buffer_waits = c.buffer_waits;
  r.slips = c.slips;
  r.slipped_ns = c.slipped.count();
}

/// Fills in what a sender was asked to send and sent. @tparam Sender a BatchSender
template <class Sender>
void fill_sent(StreamReport& r, const Sender& sender, RateLayer layer) {
  const auto& c = sender.counters();
  const auto& schedule = sender.schedule();
  r.layer = layer == RateLayer::kL1 ? "l1" : "l2";
  r.sends = true;
  r.requested_packets_per_second = schedule.packets_per_second();
  r.requested_bits_per_second =
      bits_at(layer, r.requested_packets_per_second,
              r.requested_packets_per_second * schedule.mean_frame_bytes());
  fill_counts(r, sender);
  r.lateness_ns = sender.lateness();
  r.gap_error_ns = sender.gap_error();
  const double took = seconds(sender.time_covered());
  if (c.sent == 0 || took <= 0) return;
  const auto sent = static_cast<double>(c.sent);
  r.achieved_packets_per_second = sent / took;
  r.achieved_bits_per_second = bits_at(layer, sent, static_cast<double>(c.frame_bytes)) / took;
}

}  // namespace outrider::tg
