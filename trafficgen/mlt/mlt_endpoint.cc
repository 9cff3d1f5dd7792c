#include "trafficgen/mlt/mlt_endpoint.h"

#include <cassert>

#include "trafficgen/hosts/connection_sample.h"

namespace outrider::tg {

static_assert(OutgoingDatagram::kMaxHeadBytes >= mlt::kMaxMessageBytes);

MltEndpoint::MltEndpoint(const MltConfig& config, const ControllerConfig& control,
                         const Setup& setup, MltListener& listener)
    : flow_(setup.flow),
      sender_(config, control, setup.sends),
      receiver_({.tensors = setup.receives,
                 .packet_bytes = setup.sends.packet_bytes,
                 .feedback_packets = config.feedback_packets}),
      listener_(listener),
      answer_tos_(PacketTags(setup.sends.ecn, 0, 0)
                      .control_tos(config.class_dscps.empty()
                                       ? std::uint8_t{0}
                                       : static_cast<std::uint8_t>(config.class_dscps.front()))) {}

bool MltEndpoint::has_datagram(Time) const noexcept {
  return receiver_.has_answer() || sender_.has_message();
}

void MltEndpoint::next_datagram(OutgoingDatagram& out, Time now) noexcept {
  assert(has_datagram(now));
  const auto head = std::span(out.head).first<mlt::kMaxMessageBytes>();
  if (receiver_.has_answer()) {
    out.head_bytes = mlt::encode(receiver_.next_answer(), head);
    out.value_bytes = 0;
    out.tos = answer_tos_;
    return;
  }
  const MltSender::Outgoing next = sender_.next_message(now);
  out.head_bytes = mlt::encode(next.message, head);
  out.value_bytes = next.message.length_bytes;
  out.tos = next.tos;
}

std::optional<DropReason> MltEndpoint::on_datagram(const ReceivedDatagram& datagram,
                                                   Time now) noexcept {
  mlt::Message m;
  if (mlt::decode(datagram.present, datagram.payload_bytes, m)) return DropReason::kMalformed;
  if (m.kind != mlt::Kind::kData && m.kind != mlt::Kind::kProbe) {
    const bool was_stopped = sender_.stopped(m.tensor);
    if (!sender_.on_message(m, now)) return DropReason::kMalformed;
    if (sender_.stopped(m.tensor) && !was_stopped) listener_.on_stopped(*this, m.tensor, now);
    return std::nullopt;
  }
  const auto event = receiver_.on_message(m, datagram.ecn == Ecn::kCe);
  if (event.refused) return DropReason::kMalformed;
  delivered_bytes_ += event.new_bytes;
  if (event.new_bytes != 0) listener_.on_received(*this, m.tensor, event.satisfied, now);
  return std::nullopt;
}

bool MltEndpoint::sample(ConnectionSample& out, Time /*now*/) const noexcept {
  const MltSender::Counters& counters = sender_.counters();
  if (counters.data == 0) return false;
  const MltWindow& window = sender_.window();
  out = {.transport = "mlt",
         .mss_bytes = window.packet_bytes(),
         .cwnd_bytes = window.control().cwnd_bytes(),
         .ssthresh_bytes = window.control().ssthresh_bytes(),
         .alpha = window.control().alpha(),
         .in_flight_bytes = window.in_flight_bytes(),
         .retransmitted = counters.retransmitted,
         .rtos_data = counters.timeouts};
  if (sender_.srtt() != Duration::zero()) out.srtt_ns = sender_.srtt().count();
  return true;
}

void MltEndpoint::on_timer(Time now) noexcept {
  const bool had_given_up = sender_.gave_up();
  sender_.on_timer(now);
  if (sender_.gave_up() && !had_given_up) listener_.on_gave_up(*this, now);
}

}  // namespace outrider::tg
