#include "trafficgen/transport/receiver/receiver.h"

#include <algorithm>
#include <cassert>
#include <optional>

#include "trafficgen/transport/base/timestamps.h"

namespace outrider::tg {

namespace {

/// Returns false if a segment contradicts the one end of the stream: its FIN is not the earlier one
/// or lies below arrived data, or its data lies beyond the FIN.
/// @param known offset of the FIN that has arrived, @param highest end of the highest data
bool fits_end(std::uint64_t begin, std::uint64_t end, bool fin, std::optional<std::uint64_t> known,
              std::uint64_t highest) noexcept {
  if (known) return fin ? end - 1 == *known : end <= *known;
  return begin <= end - 1 && end - 1 >= highest;
}

}  // namespace

TcpReceiver::TcpReceiver(TcpContext& context, bool per_packet_echo) noexcept
    : context_(context), window_(context.config), echo_(per_packet_echo) {
  [[maybe_unused]] const TcpConfig& config = context.config;
  assert(config.ack_every_segments < UINT8_MAX && config.quick_acks < 32);
  assert(config.delayed_ack > Duration::zero() && config.ack_every_segments > 0);
}

void TcpReceiver::start(const Peer& peer) noexcept {
  if (!peer.window_scale) window_.disable_scale();
  window_.start(peer.initial_sequence);
  sack_ = peer.sack;
  timestamps_ = peer.timestamp.has_value();
  ts_recent_ = peer.timestamp.value_or(0);
  quick_acks_left_ = context_.config.quick_acks & 0x1F;
  if (quick_acks_left_ != 0) take_quick_ack();
  if (peer.ecn) echo_.enable();
}

bool TcpReceiver::on_segment(const TcpSegment& s, Time now) noexcept {
  assert(window_.acceptable(s));
  const std::uint64_t before = window_.next();
  const std::int64_t signed_begin = window_.offset(s.sequence);
  const bool fin = s.has(kTcpFin);
  if (s.payload_bytes == 0 && !fin) {
    // Just below the window: a probe or a keep-alive (RFC 9293, 3.8.4 and 3.8.6.1).
    const bool probes = signed_begin + 1 == static_cast<std::int64_t>(before) && !fin_received();
    if (probes) [[unlikely]]
      acknowledge_now();
    return false;
  }
  if (signed_begin < 0) {  // before the stream
    ++context_.memory.events.out_of_stream;
    return false;
  }
  const auto begin = static_cast<std::uint64_t>(signed_begin);
  const std::uint64_t end = begin + s.payload_bytes + (fin ? 1 : 0);
  if (fin || fin_ != kNoFin) [[unlikely]] {
    const auto known = fin_ == kNoFin ? std::nullopt : std::optional(fin_);
    const std::uint64_t highest = out_of_order_.no_holes() ? before : out_of_order_.highest();
    if (!fits_end(begin, end, fin, known, highest)) {
      ++context_.memory.events.out_of_stream;
      return false;
    }
  }
  if (end <= before) {  // RFC 9293, 3.10.7.4: acknowledge old data at once
    ++context_.counters.duplicates_received;
    acknowledge_now();
    if (sack_) out_of_order_.note_duplicate(begin, end, context_.memory);
    return false;
  }
  if (begin < before && sack_) [[unlikely]]
    out_of_order_.note_duplicate(begin, before, context_.memory);
  if (s.payload_bytes != 0) echo(s);
  if (!accept(begin, end, now)) return false;
  if (window_.read_at_a_rate()) [[unlikely]]
    window_.note_arrival(window_.next() - before, context_.config, now);
  if (fin) {
    fin_ = end - 1;
    acknowledge_now();
  }
  return window_.next() != before;
}

/// @return false if the segment was refused
bool TcpReceiver::accept(std::uint64_t begin, std::uint64_t end, Time now) noexcept {
  if (begin <= window_.next() && out_of_order_.no_holes()) [[likely]] {
    accept_next(end, now);
    return true;
  }
  acknowledge_now();
  if (begin <= window_.next()) {
    window_.advance(out_of_order_.take_in_order(end, context_.memory));
    return true;
  }
  switch (out_of_order_.insert(begin, end, context_.memory)) {
    case Reassembly::Result::kRefused:
      ++context_.memory.events.reassembly_refused;
      return false;
    case Reassembly::Result::kDuplicate:
      ++context_.counters.duplicates_received;
      if (sack_) out_of_order_.note_duplicate(begin, end, context_.memory);
      break;
    case Reassembly::Result::kStored:
      ++context_.counters.out_of_order_received;
      ++context_.memory.events.out_of_order;
      break;
  }
  return true;
}

void TcpReceiver::fill_pure_ack(TcpSegment& s, Time now) noexcept {
  if (out_of_order_.any()) [[unlikely]] {
    // Next to timestamps, the options have room for three blocks.
    if (sack_) out_of_order_.report(s, window_, timestamps_ ? 3 : 4);
    if (out_of_order_.ack_kept()) {  // the current ACK stays due
      const EarlierAck earlier = out_of_order_.take_ack(context_.memory);
      return tell(s, earlier.next, earlier.ece, now);
    }
    out_of_order_.give_back_if_unused(context_.memory);
  }
  tell(s, window_.next(), echo_.ece(), now);
  acknowledged(now);
}

}  // namespace outrider::tg
