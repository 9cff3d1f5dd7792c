#include "trafficgen/mlt/mlt_sender.h"

#include <algorithm>
#include <cassert>

#include "common/core/sequence.h"

namespace outrider::tg {

using mlt::Kind;
using mlt::Message;

namespace {

/// Longest silence after back-off. The re-implementation known to us uses 1 s for every silence.
constexpr Duration kLongestSilence = std::chrono::seconds(1);

std::uint32_t wrapped(Time t) noexcept {
  return static_cast<std::uint32_t>(t.time_since_epoch().count());
}

/// Returns the time since one of our wrapped times. Times more than 2 s ago give zero.
Duration since(std::uint32_t sent_at_ns, Time now) noexcept {
  return Duration{std::max(sequence_distance(wrapped(now), sent_at_ns), 0)};
}

/// Returns the packets of the largest tensor whose ranks are computed; 0 if none are.
std::uint32_t most_ranked(const MltSender::Setup& setup) {
  std::uint32_t most = 0;
  if (!setup.ranks_computed) return most;
  for (const MltTensor& t : setup.tensors)
    most = std::max(most, MltLayout(t.bytes, setup.packet_bytes).packets());
  return most;
}

}  // namespace

MltSender::MltSender(const MltConfig& config, const ControllerConfig& control, const Setup& setup)
    : config_(config),
      tags_(setup.ecn, config.small_share, setup.seed),
      obeys_marks_(setup.obeys_marks),
      restarts_(setup.restarts),
      packet_bytes_(setup.packet_bytes),
      ranker_(most_ranked(setup)),
      probes_(setup.tensors.size()),
      rto_(config.probe_timeout, rto_bounds()),
      control_(control, static_cast<std::uint16_t>(setup.packet_bytes)) {
  assert(packet_bytes_ > 0 && packet_bytes_ <= UINT16_MAX);
  tensors_.reserve(setup.tensors.size());
  std::size_t classes = 1;
  for (const MltTensor& t : setup.tensors) {
    const MltLayout layout(t.bytes, packet_bytes_);
    tensors_.push_back({.what = t,
                        .layout = layout,
                        .sequence = burst_bytes_,
                        .resend = PacketSet(layout.packets())});
    if (setup.ranks_computed && tags_.ranked(t)) tensors_.back().ranks.resize(layout.packets());
    if (config.order == PacketOrder::kRandom) {
      tensors_.back().order.resize(layout.packets());
      tensors_.back().place.resize(layout.packets());
    }
    burst_bytes_ += static_cast<std::uint32_t>(t.bytes);
    classes = std::max<std::size_t>(classes, std::size_t{t.urgency} + 1);
  }
  for (std::size_t c = 0; c < classes; ++c) pending_.emplace_back(setup.tensors.size());
}

RtoEstimator::Bounds MltSender::rto_bounds() const noexcept {
  return {config_.probe_timeout, std::max(config_.probe_timeout, kLongestSilence)};
}

void MltSender::begin(const BurstIdentity& burst, Time) noexcept {
  burst_sequence_ = next_burst_sequence();
  begun_ = true;
  burst_ = burst;
  first_sent_at_.reset();
  for (auto& queue : pending_)
    while (!queue.empty()) (void)queue.pop();
  while (!probes_.empty()) (void)probes_.pop();
  for (Tensor& t : tensors_) {
    t.resend.clear();
    t.fresh = 0;
    t.phase = Phase::kIdle;
  }
  pending_tensors_ = waiting_tensors_ = probed_tensors_ = stopped_ = 0;
  // Packets of the last burst that are still in flight do not count against this one.
  seen_ = transmitted_;
  loss_.begin(static_cast<std::int64_t>(seen_ - received_));
  silent_ = false;
  silences_ = 0;
  deadline_ = kNever;
}

void MltSender::hand_over(std::uint32_t tensor, Time now) noexcept {
  assert(begun_ && tensors_[tensor].phase == Phase::kIdle);
  const bool idle = pending_tensors_ == 0 && in_flight_bytes() == 0;
  if (restarts_ && idle && last_sent_ != Time{} && now - last_sent_ > rto_.rto())
    control_->on_idle(now - last_sent_, rto_.rto());
  shuffle(tensors_[tensor]);
  enter(tensor, Phase::kPending);
  // All earlier data was stopped and its feedback was lost: without this timer nothing would
  // happen.
  if (deadline_ == kNever && !window_open()) deadline_ = now + rto_.rto();
}

/// Draws the order in which the tensor's packets leave.
void MltSender::shuffle(Tensor& t) noexcept {
  if (t.order.empty()) return;
  const std::uint32_t index = index_of(t);
  for (std::uint32_t p = 0; p < t.order.size(); ++p) {
    t.order[p] = p;
    t.place[p] = tags_.drawn_turn(index, p, burst_);
  }
  std::ranges::sort(t.order, [&t](std::uint32_t a, std::uint32_t b) {
    return t.place[a] != t.place[b] ? t.place[a] < t.place[b] : a < b;
  });
  for (std::uint32_t i = 0; i < t.order.size(); ++i) t.place[t.order[i]] = i;
}

/// Changes a tensor's phase, with the counts of tensors by phase and the queues.
void MltSender::enter(std::uint32_t tensor, Phase phase) noexcept {
  Tensor& t = tensors_[tensor];
  const auto count = [this](Phase p, std::uint32_t by) {
    if (p == Phase::kPending) pending_tensors_ += by;
    if (p == Phase::kWaits) waiting_tensors_ += by;
    if (p == Phase::kProbed) probed_tensors_ += by;
    if (p == Phase::kStopped) stopped_ += by;
  };
  count(t.phase, ~0U);
  count(phase, 1);
  t.phase = phase;
  if (phase == Phase::kPending) pending_[t.what.urgency].push(tensor);
  if (phase == Phase::kWaits) probes_.push(tensor);
}

// -- sending

bool MltSender::window_open() const noexcept {
  return in_flight_bytes() == 0 || in_flight_bytes() + packet_bytes_ <= control_->cwnd_bytes();
}

bool MltSender::has_message() const noexcept {
  if (gave_up_) return false;
  if (silent_) return true;
  return pending_tensors_ != 0 ? window_open() : waiting_tensors_ != 0;
}

MltSender::Outgoing MltSender::next_message(Time now) noexcept {
  assert(has_message());
  const bool data = !silent_ && pending_tensors_ != 0;
  const Outgoing out = data ? next_data(now) : next_probe(now);
  last_sent_ = now;
  if (deadline_ == kNever) deadline_ = now + rto_.rto();
  return out;
}

std::uint8_t MltSender::tos(const Tensor& t, std::uint32_t packet) const noexcept {
  return tags_.tos(t.what, [&] {
    return t.ranks.empty() ? tags_.drawn_rank(index_of(t), packet, burst_) : t.ranks[packet];
  });
}

/// Returns the first tensor of the most urgent class that has packets to send.
MltSender::Tensor& MltSender::pick() noexcept {
  for (auto& queue : pending_) {
    for (; !queue.empty(); (void)queue.pop())
      if (tensors_[queue.peek()].phase == Phase::kPending) return tensors_[queue.peek()];
  }
  assert(false);  // pending_tensors_ > 0
  return tensors_.front();
}

MltSender::Outgoing MltSender::next_data(Time now) noexcept {
  Tensor& t = pick();
  const std::uint32_t index = index_of(t);
  std::uint32_t packet = 0;
  if (!t.resend.empty()) {
    packet = t.resend.next(0);
    t.resend.erase(packet);
    ++counters_.retransmitted;
  } else {
    packet = t.order.empty() ? t.fresh : t.order[t.fresh];
    ++t.fresh;
  }
  ++counters_.data;
  if (!first_sent_at_) first_sent_at_ = now;
  last_tensor_ = index;
  const std::uint32_t length = t.layout.length(packet);
  transmitted_ += length;
  if (t.resend.empty() && t.fresh == t.layout.packets()) {
    (void)pending_[t.what.urgency].pop();
    enter(index, Phase::kWaits);
  }
  if (!window_open()) window_full_until_ = transmitted_;
  const std::uint64_t offset = t.layout.offset(packet);
  return {{.kind = Kind::kData,
           // No packet follows that would make the receiver answer.
           .asks = pending_tensors_ == 0 || !window_open(),
           .identity = burst_,
           .tensor = index,
           .offset_values = static_cast<std::uint32_t>(offset / mlt::kValueBytes),
           .length_bytes = static_cast<std::uint16_t>(length),
           .transmitted_bytes = static_cast<std::uint32_t>(transmitted_),
           .sequence = burst_sequence_ + t.sequence + static_cast<std::uint32_t>(offset),
           .sent_at_ns = wrapped(now)},
          tos(t, packet)};
}

/// Probes the next tensor that waits for STOP; after a silence, one that has sent something.
MltSender::Outgoing MltSender::next_probe(Time now) noexcept {
  std::uint32_t tensor = last_tensor_;
  if (waiting_tensors_ != 0) {
    do tensor = probes_.pop();
    while (tensors_[tensor].phase != Phase::kWaits);
    enter(tensor, Phase::kProbed);
  } else if (tensors_[tensor].phase != Phase::kPending) {
    tensor = index_of(pick());  // after a silence; some tensor is pending, because none waits
  }
  silent_ = false;
  Tensor& t = tensors_[tensor];
  if (++probe_number_ == 0) ++probe_number_;
  t.probe = probe_number_;
  t.fresh_at_probe = t.fresh;
  ++counters_.probes;
  return {{.kind = Kind::kProbe,
           .asks = true,
           .identity = burst_,
           .tensor = tensor,
           .transmitted_bytes = static_cast<std::uint32_t>(transmitted_),
           .sent_at_ns = wrapped(now),
           .probe = t.probe},
          tags_.control_tos(t.what.dscp)};
}

// -- answers

bool MltSender::on_message(const Message& m, Time now) noexcept {
  const bool ours = m.identity.job == burst_.job && m.identity.worker == burst_.worker &&
                    m.identity.direction == burst_.direction;
  if (!begun_ || !ours || m.tensor >= tensors_.size() ||
      sequence_distance(m.identity.iteration, burst_.iteration) > 0)
    return false;
  if (m.kind == Kind::kFeedback && !on_feedback(m, now)) return false;
  if (m.identity.iteration == burst_.iteration) {
    if (m.kind == Kind::kBitmap) on_bitmap(m);
    if (m.kind == Kind::kStop || m.stopped) stop(m.tensor);
  }
  silent_ = false;
  silences_ = 0;
  const bool waits = pending_tensors_ + waiting_tensors_ + probed_tensors_ != 0;
  deadline_ = waits && first_sent_at_ ? now + rto_.rto() : kNever;
  return true;
}

bool MltSender::on_feedback(const Message& m, Time now) noexcept {
  const std::int32_t seen = sequence_distance(m.seen_bytes, static_cast<std::uint32_t>(seen_));
  if (seen > static_cast<std::int64_t>(transmitted_ - seen_)) return false;  // never sent
  const std::int32_t received =
      sequence_distance(m.received_bytes, static_cast<std::uint32_t>(received_));
  if (seen < 0 || received < 0) return true;  // overtaken by a newer one, or of an old burst
  const std::uint32_t in_flight = in_flight_bytes();
  const std::uint32_t marked = m.marked_bytes - marked_;
  seen_ += static_cast<std::uint32_t>(seen);
  received_ += static_cast<std::uint32_t>(received);
  marked_ = m.marked_bytes;
  const std::uint32_t lost =
      loss_.on_report(static_cast<std::int64_t>(seen_ - received_),
                      static_cast<std::uint32_t>(seen), rto_.srtt() / 4, now);
  counters_.lost += lost;
  const Duration rtt = since(m.sent_at_ns, now);
  if (seen > 0 && rtt > Duration::zero()) rto_.on_sample(rtt, rto_bounds());
  if (seen > 0)
    adjust_window(static_cast<std::uint32_t>(seen), lost + (obeys_marks_ ? marked : 0), in_flight,
                  rtt, now);
  return true;
}

/// @param suffered bytes, of those seen, that were marked or lost
void MltSender::adjust_window(std::uint32_t seen, std::uint32_t suffered, std::uint32_t in_flight,
                              Duration rtt, Time now) noexcept {
  const std::uint64_t before = seen_ - seen;
  const bool reducing = seen_ < reduced_until_;
  control_->on_ack({.now = now,
                    .acked_bytes = seen,
                    .ece_bytes = std::min(suffered, seen),
                    .in_flight_bytes = in_flight,
                    .srtt = rto_.srtt(),
                    .rtt = rtt,
                    .snd_una = seen_,
                    .snd_nxt = transmitted_,
                    .in_recovery = suffered != 0 || reducing,
                    .cwnd_limited = before < window_full_until_});
  if (suffered == 0 || reducing) return;
  control_->on_congestion(CongestionControl::Congestion::kEce, in_flight, now);
  reduced_until_ = transmitted_;  // once per window (RFC 3168, 6.1.2)
  ++counters_.reductions;
}

/// Returns the bytes of packets that never left. Only the last packet may be shorter.
std::uint64_t MltSender::unsent_bytes(const Tensor& t) noexcept {
  const std::uint32_t last = t.layout.packets() - 1;
  if (place_of(t, last) >= t.fresh) return t.layout.bytes() - t.layout.offset(t.fresh);
  return t.layout.offset(last + 1 - t.fresh);
}

void MltSender::stop(std::uint32_t tensor) noexcept {
  Tensor& t = tensors_[tensor];
  if (t.phase == Phase::kStopped || t.phase == Phase::kIdle) return;
  counters_.unsent += unsent_bytes(t);
  t.resend.clear();
  enter(tensor, Phase::kStopped);
}

/// Resends missing packets that left before the probe. Those that left later may still be in
/// flight.
void MltSender::on_bitmap(const Message& m) noexcept {
  Tensor& t = tensors_[m.tensor];
  if (m.probe != t.probe || t.phase == Phase::kStopped || t.phase == Phase::kIdle) return;
  const std::uint32_t rest = t.layout.packets() - std::min(m.first_packet, t.layout.packets());
  for (std::uint32_t i = 0; i < std::min(rest, mlt::kBitmapPackets); ++i) {
    const std::uint32_t packet = m.first_packet + i;
    const bool arrived = (m.bits[i / 8] >> (i % 8) & 1) != 0;
    if (!arrived && place_of(t, packet) < t.fresh_at_probe) (void)t.resend.insert(packet);
  }
  if (t.phase != Phase::kPending && !t.resend.empty()) enter(m.tensor, Phase::kPending);
}

// -- time

void MltSender::on_timer(Time now) noexcept {
  if (now < deadline_ || gave_up_) return;
  deadline_ = now + rto_.rto();
  if (in_flight_bytes() == 0 && probed_tensors_ == 0) return;  // only the NIC is slow
  ++counters_.timeouts;
  if (++silences_ > config_.probe_limit) {
    gave_up_ = true;
    deadline_ = kNever;
    return;
  }
  rto_.back_off(rto_bounds());
  deadline_ = now + rto_.rto();
  control_->on_timeout(in_flight_bytes(), now);
  for (std::uint32_t i = 0; i < tensors_.size() && probed_tensors_ != 0; ++i)
    if (tensors_[i].phase == Phase::kProbed) enter(i, Phase::kWaits);
  silent_ = true;
}

}  // namespace outrider::tg
