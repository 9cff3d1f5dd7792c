#include "trafficgen/transport/receiver/receiver.h"

#include <algorithm>
#include <cassert>

namespace outrider::tg {
namespace {

/// Smallest shift that lets 16 bits tell the whole buffer (RFC 7323, section 2).
std::int8_t scale_for(std::uint32_t buffer_bytes) noexcept {
  std::int8_t scale = 0;
  while (buffer_bytes >> scale > UINT16_MAX) ++scale;
  return scale;
}

std::uint64_t end_of(std::uint64_t begin, const TcpSegment& s) noexcept {
  return begin + s.payload_bytes + (s.has(kTcpFin) ? 1 : 0);
}

}  // namespace

TcpReceiver::TcpReceiver(TcpContext& context, bool per_packet_echo) noexcept
    : context_(context),
      told_window_(context.config.receive_buffer_bytes),
      window_scale_(scale_for(context.config.receive_buffer_bytes)),
      reads_at_a_rate_(context.config.read_rate.has_value()),
      echo_(per_packet_echo) {
  [[maybe_unused]] const TcpConfig& config = context.config;
  assert(told_window_ > 0 && told_window_ <= kMaxWindowBytes);
  assert(config.ack_every_segments < UINT8_MAX);
  assert(config.delayed_ack > Duration::zero() && config.ack_every_segments > 0);
}

void TcpReceiver::start(std::uint32_t peer_initial_sequence, bool ecn, bool sack) noexcept {
  space_ = SequenceSpace(peer_initial_sequence);
  sack_ = sack;
  if (ecn) echo_.enable();
}

std::uint16_t TcpReceiver::syn_window() const noexcept {
  return static_cast<std::uint16_t>(std::min<std::uint32_t>(told_window_, UINT16_MAX));
}

void TcpReceiver::disable_window_scale() noexcept {
  window_scale_ = 0;
  told_window_ = syn_window();
}

bool TcpReceiver::acceptable(const TcpSegment& s) const noexcept {
  const std::int64_t begin = space_.offset(s.sequence, next_);
  const auto edge = static_cast<std::int64_t>(told_edge());
  const std::int64_t payload_end = begin + s.payload_bytes;  // the FIN may lie on the edge
  return payload_end <= edge && begin >= static_cast<std::int64_t>(next_) - kMaxWindowBytes;
}

bool TcpReceiver::timely(const TcpSegment& s) noexcept {
  if (!timestamps_ || s.has(kTcpRst)) return true;
  if (!s.has_timestamps) {
    ++context_.memory.events.without_timestamp;
    return false;
  }
  if (!TimestampClock::before(s.ts_value, ts_recent_)) return true;
  ++context_.memory.events.paws_rejected;
  acknowledge_now();
  return false;
}

void TcpReceiver::note_timestamp(const TcpSegment& s) noexcept {
  if (!timestamps_ || !s.has_timestamps) return;
  if (space_.offset(s.sequence, next_) <= static_cast<std::int64_t>(last_told_))
    ts_recent_ = s.ts_value;
}

void TcpReceiver::stamp(TcpSegment& s, Time now) const noexcept {
  if (!timestamps_) return;
  s.has_timestamps = true;
  s.ts_value = TimestampClock::at(now);
  s.ts_echo = ts_recent_;
}

bool TcpReceiver::on_segment(const TcpSegment& s, Time now) noexcept {
  assert(acceptable(s));
  const std::int64_t signed_begin = space_.offset(s.sequence, next_);
  const bool fin = s.has(kTcpFin);
  if (s.payload_bytes == 0 && !fin) {
    // Just below the window: a probe or a keep-alive (RFC 9293, 3.8.4 and 3.8.6.1).
    const bool probes = signed_begin + 1 == static_cast<std::int64_t>(next_) && !fin_received();
    if (probes) [[unlikely]]
      acknowledge_now();
    return false;
  }
  if (signed_begin < 0) {  // before the stream
    ++context_.memory.events.out_of_stream;
    return false;
  }
  const auto begin = static_cast<std::uint64_t>(signed_begin);
  const std::uint64_t end = end_of(begin, s);
  if ((fin || fin_ != kNoFin) && !fin_possible(begin, end, fin)) [[unlikely]] {
    ++context_.memory.events.out_of_stream;
    return false;
  }
  if (end <= next_) {  // RFC 9293, 3.10.7.4: acknowledge what is old, at once
    ++context_.counters.duplicates_received;
    acknowledge_now();
    note_duplicate(begin, end);
    return false;
  }
  if (begin < next_) [[unlikely]]
    note_duplicate(begin, next_);
  if (s.payload_bytes != 0) echo(s);
  const std::uint64_t before = next_;
  if (!accept(begin, end, now)) return false;
  if (reads_at_a_rate_) [[unlikely]]
    note_arrival(next_ - before, now);
  if (fin) {
    fin_ = end - 1;
    acknowledge_now();
  }
  return next_ != before;
}

/// The stream ends once, above everything that has arrived.
bool TcpReceiver::fin_possible(std::uint64_t begin, std::uint64_t end, bool fin) noexcept {
  if (fin_ != kNoFin) return fin ? end - 1 == fin_ : end <= fin_;
  const std::uint64_t highest = in_order() ? next_ : disorder_->reassembly.highest();
  return begin <= end - 1 && end - 1 >= highest;
}

/// @return false if the segment was refused
bool TcpReceiver::accept(std::uint64_t begin, std::uint64_t end, Time now) noexcept {
  if (begin > next_ || !in_order()) [[unlikely]] {
    acknowledge_now();
    return accept_rare(begin, end);
  }
  next_ = end;
  if (++unacknowledged_ >= context_.config.ack_every_segments) acknowledge_now();
  else if (!due_) deadline_ = std::min(deadline_, now + context_.config.delayed_ack);
  return true;
}

bool TcpReceiver::borrow() noexcept {
  if (disorder_ != nullptr) return true;
  disorder_ = context_.memory.disorders.take();
  if (disorder_ == nullptr) ++context_.memory.counters.disorders_exhausted;
  return disorder_ != nullptr;
}

void TcpReceiver::give_back() noexcept {
  if (disorder_ == nullptr) return;
  context_.memory.disorders.give_back(disorder_);
  disorder_ = nullptr;
}

void TcpReceiver::give_back_if_unused() noexcept {
  if (disorder_ == nullptr || disorder_->unused()) give_back();
}

/// Without memory it goes unreported. If two arrive before an ACK leaves, the first
/// one does (RFC 2883, 4, asks for the one that brought the ACK about).
void TcpReceiver::note_duplicate(std::uint64_t begin, std::uint64_t end) noexcept {
  if (!sack_ || !borrow()) return;
  if (disorder_->duplicate.begin == disorder_->duplicate.end) disorder_->duplicate = {begin, end};
}

bool TcpReceiver::accept_rare(std::uint64_t begin, std::uint64_t end) noexcept {
  if (begin <= next_) {
    next_ = disorder_->reassembly.take_in_order(end);
    give_back_if_unused();
    return true;
  }
  if (!borrow()) {
    ++context_.memory.events.reassembly_refused;
    return false;
  }
  switch (disorder_->reassembly.insert(begin, end)) {
    case Reassembly::Result::kRefused:
      ++context_.memory.events.reassembly_refused;
      return false;
    case Reassembly::Result::kDuplicate:
      ++context_.counters.duplicates_received;
      note_duplicate(begin, end);
      break;
    case Reassembly::Result::kStored:
      ++context_.counters.out_of_order_received;
      break;
  }
  return true;
}

void TcpReceiver::echo(const TcpSegment& s) noexcept {
  const bool ce = s.ecn == Ecn::kCe;
  if (ce) ++context_.counters.ce_received;
  if (echo_.changes(ce)) {
    keep_earlier_ack();
    acknowledge_now();
  }
  echo_.on_data(ce, s.has(kTcpCwr));
}

/// The per-packet state changes while in-order data waits for its ACK: that data
/// is acknowledged on its own, under the state it arrived with, and the NIC may
/// be too busy to take the ACK before the next change. When more than
/// kEarlierAcks wait, the last one covers the data, with a state that is not its
/// own; without memory, the current ACK does.
void TcpReceiver::keep_earlier_ack() noexcept {
  const bool none = disorder_ == nullptr || disorder_->earlier_used == 0;
  const std::uint64_t told =
      none ? last_told_ : disorder_->earlier[disorder_->earlier_used - 1].next;
  if (next_ == told || !borrow()) return;
  std::size_t& used = disorder_->earlier_used;
  if (used == Disorder::kEarlierAcks) --used;
  disorder_->earlier[used++] = {next_, echo_.ece()};
}

/// All that there is to tell has been told.
void TcpReceiver::acknowledged(Time now) noexcept {
  unacknowledged_ = 0;
  due_ = false;
  deadline_ = kNever;
  if (reads_at_a_rate_) [[unlikely]]
    arm_window_update(now);
}

/// Acknowledgment and window.
void TcpReceiver::tell(TcpSegment& s, std::uint64_t next, Time now) noexcept {
  s.flags |= kTcpAck;
  s.acknowledgment = space_.wire(next);
  if (reads_at_a_rate_) [[unlikely]]
    told_window_ = window_to_tell(next, now);
  last_told_ = next;
  s.window = window();
}

void TcpReceiver::fill_piggyback(TcpSegment& s, Time now) noexcept {
  assert(!ack_due_alone());
  tell(s, next_, now);
  if (echo_.ece()) s.flags |= kTcpEce;
  acknowledged(now);
}

void TcpReceiver::fill_pure_ack(TcpSegment& s, Time now) noexcept {
  if (disorder_ != nullptr) [[unlikely]] {
    fill_sack(s);
    if (disorder_->earlier_used != 0) return fill_earlier(s, now);
    give_back_if_unused();
  }
  tell(s, next_, now);
  if (echo_.ece()) s.flags |= kTcpEce;
  acknowledged(now);
}

/// The current ACK stays due.
void TcpReceiver::fill_earlier(TcpSegment& s, Time now) noexcept {
  auto& earlier = disorder_->earlier;
  tell(s, earlier[0].next, now);
  if (earlier[0].ece) s.flags |= kTcpEce;
  std::copy(earlier.begin() + 1,
            earlier.begin() + static_cast<std::ptrdiff_t>(disorder_->earlier_used),
            earlier.begin());
  --disorder_->earlier_used;
  give_back_if_unused();
}

/// The duplicate comes first (RFC 2883, 4), then RFC 2018's blocks.
void TcpReceiver::fill_sack(TcpSegment& s) noexcept {
  if (!sack_) return;
  std::size_t blocks = 0;
  const auto add = [this, &s, &blocks](std::uint64_t begin, std::uint64_t end) {
    s.sack[blocks++] = {space_.wire(begin), space_.wire(end)};
  };
  Disorder::Duplicate& duplicate = disorder_->duplicate;
  if (duplicate.begin != duplicate.end) add(duplicate.begin, duplicate.end);
  duplicate = {};
  std::array<Reassembly::Interval, 4> recent{};
  const std::size_t holes = disorder_->reassembly.most_recent(recent);
  const std::size_t limit = timestamps_ ? 3 : 4;  // beside timestamps there is room for three
  for (std::size_t i = 0; i < holes && blocks < limit; ++i) add(recent[i].begin, recent[i].end);
  s.sack_blocks = static_cast<std::uint8_t>(blocks);
}

}  // namespace outrider::tg
