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

RtoEstimator::Bounds rto_bounds(const MltConfig& config) noexcept {
  return {config.probe_timeout, std::max(config.probe_timeout, kLongestSilence)};
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
      tensors_(setup.tensors, setup.packet_bytes),
      window_(control, setup.packet_bytes),
      ranker_(most_ranked(setup)),
      rto_(config.probe_timeout, rto_bounds(config)) {
  assert(setup.packet_bytes > 0 && setup.packet_bytes <= UINT16_MAX);
  for (std::uint32_t i = 0; i < tensors_.size(); ++i) {
    SentTensor& t = tensors_[i];
    if (setup.ranks_computed && tags_.ranked(t.what)) t.ranks.resize(t.layout.packets());
    if (config.order == PacketOrder::kRandom) {
      t.order.resize(t.layout.packets());
      t.place.resize(t.layout.packets());
    }
  }
}

void MltSender::begin(const BurstIdentity& burst, Time) noexcept {
  burst_sequence_ = next_burst_sequence();
  begun_ = true;
  burst_ = burst;
  first_sent_at_.reset();
  tensors_.begin();
  window_.begin();
  silent_ = false;
  silences_ = 0;
  deadline_ = kNever;
}

void MltSender::hand_over(std::uint32_t tensor, Time now) noexcept {
  assert(begun_ && tensors_[tensor].phase == Phase::kIdle);
  const bool idle = tensors_.count(Phase::kPending) == 0 && window_.in_flight_bytes() == 0;
  if (restarts_ && idle && last_sent_ != Time{} && now - last_sent_ > rto_.rto())
    window_.on_idle(now - last_sent_, rto_.rto());
  shuffle(tensor);
  tensors_.enter(tensor, Phase::kPending);
  // All earlier data was stopped and its feedback was lost: without this timer nothing would
  // happen.
  if (deadline_ == kNever && !window_.open()) deadline_ = now + rto_.rto();
}

/// Draws the order in which the tensor's packets leave.
void MltSender::shuffle(std::uint32_t tensor) noexcept {
  SentTensor& t = tensors_[tensor];
  if (t.order.empty()) return;
  for (std::uint32_t p = 0; p < t.order.size(); ++p) {
    t.order[p] = p;
    t.place[p] = tags_.drawn_turn(tensor, p, burst_);
  }
  std::ranges::sort(t.order, [&t](std::uint32_t a, std::uint32_t b) {
    return t.place[a] != t.place[b] ? t.place[a] < t.place[b] : a < b;
  });
  for (std::uint32_t i = 0; i < t.order.size(); ++i) t.place[t.order[i]] = i;
}

// -- sending

bool MltSender::has_message() const noexcept {
  if (gave_up_) return false;
  if (silent_) return true;
  if (tensors_.count(Phase::kPending) != 0) return window_.open();
  return tensors_.count(Phase::kWaits) != 0;
}

MltSender::Outgoing MltSender::next_message(Time now) noexcept {
  assert(has_message());
  const bool data = !silent_ && tensors_.count(Phase::kPending) != 0;
  const Outgoing out = data ? next_data(now) : next_probe(now);
  last_sent_ = now;
  if (deadline_ == kNever) deadline_ = now + rto_.rto();
  return out;
}

MltSender::Outgoing MltSender::next_data(Time now) noexcept {
  const std::uint32_t index = tensors_.first();
  SentTensor& t = tensors_[index];
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
  window_.on_sent(length);
  if (t.resend.empty() && t.fresh == t.layout.packets()) tensors_.all_left(index);
  const std::uint64_t offset = t.layout.offset(packet);
  const auto rank = [&] {
    return t.ranks.empty() ? tags_.drawn_rank(index, packet, burst_) : t.ranks[packet];
  };
  return {{.kind = Kind::kData,
           // No packet follows that would make the receiver answer.
           .asks = tensors_.count(Phase::kPending) == 0 || !window_.open(),
           .identity = burst_,
           .tensor = index,
           .offset_values = static_cast<std::uint32_t>(offset / mlt::kValueBytes),
           .length_bytes = static_cast<std::uint16_t>(length),
           .transmitted_bytes = window_.transmitted_bytes(),
           .sequence = burst_sequence_ + t.sequence + static_cast<std::uint32_t>(offset),
           .sent_at_ns = wrapped(now)},
          tags_.tos(t.what, rank)};
}

/// Probes the next tensor that waits for STOP; after a silence, one that has sent something.
MltSender::Outgoing MltSender::next_probe(Time now) noexcept {
  std::uint32_t tensor = last_tensor_;
  if (tensors_.count(Phase::kWaits) != 0) {
    tensor = tensors_.next_to_probe();
    tensors_.enter(tensor, Phase::kProbed);
  } else if (tensors_[tensor].phase != Phase::kPending) {
    tensor = tensors_.first();  // after a silence; some tensor is pending, because none waits
  }
  silent_ = false;
  SentTensor& t = tensors_[tensor];
  if (++probe_number_ == 0) ++probe_number_;
  t.probe = probe_number_;
  t.fresh_at_probe = t.fresh;
  ++counters_.probes;
  return {{.kind = Kind::kProbe,
           .asks = true,
           .identity = burst_,
           .tensor = tensor,
           .transmitted_bytes = window_.transmitted_bytes(),
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
  const bool waits = tensors_.count(Phase::kPending) + tensors_.count(Phase::kWaits) +
                         tensors_.count(Phase::kProbed) !=
                     0;
  deadline_ = waits && first_sent_at_ ? now + rto_.rto() : kNever;
  return true;
}

bool MltSender::on_feedback(const Message& m, Time now) noexcept {
  const auto news = window_.take(m, rto_.srtt() / 4, now);
  if (!news) return false;
  counters_.lost += news->lost;
  if (news->seen == 0) return true;
  const Duration rtt = since(m.sent_at_ns, now);
  if (rtt > Duration::zero()) rto_.on_sample(rtt, rto_bounds(config_));
  const std::uint32_t suffered = news->lost + (obeys_marks_ ? news->marked : 0);
  counters_.reductions += window_.adjust(*news, suffered, rto_.srtt(), rtt, now);
  return true;
}

void MltSender::stop(std::uint32_t tensor) noexcept {
  SentTensor& t = tensors_[tensor];
  if (t.phase == Phase::kStopped || t.phase == Phase::kIdle) return;
  counters_.unsent += t.unsent_bytes();
  t.resend.clear();
  tensors_.enter(tensor, Phase::kStopped);
}

/// Resends missing packets that left before the probe. Those that left later may still be in
/// flight.
void MltSender::on_bitmap(const Message& m) noexcept {
  SentTensor& t = tensors_[m.tensor];
  if (m.probe != t.probe || t.phase == Phase::kStopped || t.phase == Phase::kIdle) return;
  const std::uint32_t rest = t.layout.packets() - std::min(m.first_packet, t.layout.packets());
  for (std::uint32_t i = 0; i < std::min(rest, mlt::kBitmapPackets); ++i) {
    const std::uint32_t packet = m.first_packet + i;
    const bool arrived = (m.bits[i / 8] >> (i % 8) & 1) != 0;
    if (!arrived && t.place_of(packet) < t.fresh_at_probe) (void)t.resend.insert(packet);
  }
  if (t.phase != Phase::kPending && !t.resend.empty()) tensors_.enter(m.tensor, Phase::kPending);
}

// -- time

void MltSender::on_timer(Time now) noexcept {
  if (now < deadline_ || gave_up_) return;
  deadline_ = now + rto_.rto();
  if (window_.in_flight_bytes() == 0 && tensors_.count(Phase::kProbed) == 0)
    return;  // only the NIC is slow
  ++counters_.timeouts;
  if (++silences_ > config_.probe_limit) {
    gave_up_ = true;
    deadline_ = kNever;
    return;
  }
  rto_.back_off(rto_bounds(config_));
  deadline_ = now + rto_.rto();
  window_.on_timeout(now);
  tensors_.probe_again();
  silent_ = true;
}

}  // namespace outrider::tg
