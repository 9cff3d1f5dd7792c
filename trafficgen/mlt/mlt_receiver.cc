#include "trafficgen/mlt/mlt_receiver.h"

#include <cassert>

#include "common/core/sequence.h"

namespace outrider::tg {

using mlt::Kind;
using mlt::Message;

MltReceiver::MltReceiver(const Setup& setup)
    : feedback_packets_(setup.feedback_packets), answers_(setup.tensors.size()) {
  assert(feedback_packets_ > 0);
  tensors_.reserve(setup.tensors.size());
  for (const MltTensor& t : setup.tensors) {
    const MltLayout layout(t.bytes, setup.packet_bytes);
    tensors_.push_back({.layout = layout,
                        .tolerated_bytes = tolerated_bytes(t.bytes, t.tolerance),
                        .arrived = PacketSet(layout.packets())});
  }
}

void MltReceiver::begin(const BurstIdentity& burst) noexcept {
  burst_ = burst;
  satisfied_ = 0;
  delivered_bytes_ = 0;
  for (Tensor& t : tensors_) {
    t.arrived.clear();
    t.delivered_bytes = 0;
    t.satisfied = false;
  }
}

MltReceiver::Event MltReceiver::on_message(const Message& m, bool ce) noexcept {
  assert(m.kind == Kind::kData || m.kind == Kind::kProbe);
  const BurstIdentity& id = m.identity;
  const bool ours = id.job == burst_.job && id.worker == burst_.worker &&
                    id.direction == burst_.direction && id.iteration <= burst_.iteration;
  if (!ours || m.tensor >= tensors_.size()) return {.refused = true};
  return m.kind == Kind::kData ? on_data(m, ce) : on_probe(m);
}

void MltReceiver::note_arrival(const Message& m, bool earlier) noexcept {
  seen_bytes_ = later_sequence(seen_bytes_, m.transmitted_bytes);
  told_about_ = m;
  told_stopped_ = earlier || tensors_[m.tensor].satisfied;
  if (m.asks || data_untold_ >= feedback_packets_) feedback_due_ = true;
}

MltReceiver::Event MltReceiver::on_data(const Message& m, bool ce) noexcept {
  Tensor& t = tensors_[m.tensor];
  const std::uint32_t packet =
      t.layout.packet_of(std::uint64_t{m.offset_values} * mlt::kValueBytes, m.length_bytes);
  if (packet == t.layout.packets()) return {.refused = true};
  ++counters_.data;
  received_bytes_ += m.length_bytes;
  counters_.marked += ce ? 1 : 0;
  marked_bytes_ += ce ? m.length_bytes : 0;
  ++data_untold_;
  const bool earlier = m.identity.iteration != burst_.iteration;
  Event event;
  if (earlier || complete()) {
    ++counters_.late;
  } else if (!t.arrived.insert(packet)) {
    ++counters_.duplicate;
  } else {
    event.new_bytes = m.length_bytes;
    t.delivered_bytes += m.length_bytes;
    delivered_bytes_ += m.length_bytes;
    event.satisfied = !t.satisfied && t.delivered_bytes + t.tolerated_bytes >= t.layout.bytes();
  }
  if (event.satisfied) {
    t.satisfied = true;
    event.complete = ++satisfied_ == tensors_.size();
    answer(m.tensor, {.identity = m.identity});
  }
  note_arrival(m, earlier);
  return event;
}

MltReceiver::Event MltReceiver::on_probe(const Message& m) noexcept {
  answer(m.tensor, m);
  note_arrival(m, m.identity.iteration != burst_.iteration);
  feedback_due_ = true;
  return {};
}

/// A later question about a tensor replaces one that is not yet answered.
void MltReceiver::answer(std::uint32_t tensor, const Message& asked) noexcept {
  Answer& a = tensors_[tensor].answer;
  if (!a.queued) answers_.push(tensor);
  a = {.queued = true, .iteration = asked.identity.iteration, .probe = asked.probe};
}

Message MltReceiver::next_answer() noexcept {
  assert(has_answer());
  if (feedback_due_) return feedback();
  const std::uint32_t tensor = answers_.peek();
  Tensor& t = tensors_[tensor];
  Answer& a = t.answer;
  if (a.iteration == burst_.iteration && !t.satisfied) {
    std::uint32_t missing = t.arrived.next_absent(a.next_packet);
    const bool arrived_since = missing == t.layout.packets();  // what else was to be told
    if (arrived_since) missing = t.arrived.next_absent(0);
    const Message m = bitmap(tensor, missing / mlt::kBitmapPackets * mlt::kBitmapPackets);
    a.next_packet = t.arrived.next_absent(m.first_packet + mlt::kBitmapPackets);
    if (a.next_packet < t.layout.packets() && !arrived_since) return m;
    a.queued = false;
    (void)answers_.pop();
    return m;
  }
  Message stop{.kind = Kind::kStop, .identity = burst_, .tensor = tensor, .probe = a.probe};
  stop.identity.iteration = a.iteration;
  a.queued = false;
  (void)answers_.pop();
  return stop;
}

Message MltReceiver::feedback() noexcept {
  feedback_due_ = false;
  data_untold_ = 0;
  return {.kind = Kind::kFeedback,
          .stopped = told_stopped_,
          .identity = told_about_.identity,
          .tensor = told_about_.tensor,
          .sent_at_ns = told_about_.sent_at_ns,
          .seen_bytes = seen_bytes_,
          .received_bytes = received_bytes_,
          .marked_bytes = marked_bytes_};
}

Message MltReceiver::bitmap(std::uint32_t tensor, std::uint32_t from) const noexcept {
  const Tensor& t = tensors_[tensor];
  Message m{.kind = Kind::kBitmap,
            .identity = burst_,
            .tensor = tensor,
            .probe = t.answer.probe,
            .first_packet = from};
  for (std::uint32_t i = 0; i < mlt::kBitmapPackets && from + i < t.layout.packets(); ++i)
    if (t.arrived.contains(from + i)) m.bits[i / 8] |= static_cast<std::uint8_t>(1U << (i % 8));
  return m;
}

}  // namespace outrider::tg
