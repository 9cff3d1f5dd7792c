#include "trafficgen/roce/queue_pair.h"

#include <algorithm>
#include <cassert>

#include "common/net/headers.h"
#include "trafficgen/frames/roce_key.h"
#include "trafficgen/hosts/connection_sample.h"
#include "trafficgen/roce/control/make_rate_controller.h"
#include "trafficgen/roce/path_mtu.h"

namespace outrider::tg {

using roce::Opcode;

namespace {
SendPath path_of(const RoceConfig& config, const QueuePair::Setup& setup) noexcept {
  return {.line_bps = static_cast<double>(setup.line.bits_per_second),
          .packet_bytes = static_cast<double>(setup.path_mtu + kAroundPayloadBytes +
                                              telemetry_bytes_of(config)),
          .most_packets = config.window_packets};
}

/// Returns the bytes of the IP packet that its ICRC covers.
std::uint32_t covered_bytes(const ReceivedDatagram& datagram) noexcept {
  return static_cast<std::uint32_t>(sizeof(Ipv4Header) + sizeof(UdpHeader)) +
         datagram.payload_bytes - roce::kIcrcBytes;
}
}  // namespace

QueuePair::QueuePair(const RoceConfig& config, const Setup& setup, QueuePairListener& listener)
    : config_(config),
      setup_(setup),
      listener_(listener),
      requester_(config,
                 {.path_mtu = setup.path_mtu,
                  .peer_queue_pair = setup.peer_queue_pair,
                  .first_psn = setup.first_psn,
                  .peer_key = setup.peer_key,
                  .peer_address = setup.peer_address,
                  .requests = setup.requests,
                  .telemetry_bytes = telemetry_bytes_of(config)},
                 make_rate_controller(config, path_of(config, setup)), counters_),
      responder_(config,
                 {.path_mtu = setup.path_mtu,
                  .own_queue_pair = setup.own_queue_pair,
                  .peer_queue_pair = setup.peer_queue_pair,
                  .first_psn = setup.peer_first_psn},
                 counters_),
      cnp_sender_(config, setup_.flow, responder_),
      echo_(telemetry_bytes_of(config) != 0 ? std::make_unique<Echo>() : nullptr) {}

FlowKey QueuePair::key() const noexcept {
  return roce_key(setup_.flow.source_address, setup_.flow.destination_address,
                  setup_.own_queue_pair);
}

bool QueuePair::sample(ConnectionSample& out, Time now) const noexcept {
  const OutgoingRequests& requests = requester_.requests();
  if (requests.appended_bytes() == 0) return false;
  const RateState state = requester_.control().state(now);
  const auto whole = [](const std::optional<double>& v) {
    return v ? std::optional(static_cast<std::uint64_t>(*v)) : std::nullopt;
  };
  const std::uint64_t unacknowledged = requests.appended_bytes() - requests.acknowledged_bytes();
  out = {.transport = "roce",
         .mss_bytes = setup_.path_mtu,
         .rate_bits_per_second = whole(state.rate_bps),
         .target_bits_per_second = whole(state.target_bps),
         .alpha = state.alpha,
         .in_flight_bytes = static_cast<std::uint32_t>(
             std::min(requester_.state().in_flight_packets * setup_.path_mtu, unacknowledged)),
         .acked_bytes = requests.acknowledged_bytes(),
         .retransmitted = counters_.retransmitted,
         .rtos_data = counters_.timeouts,
         .fast_recoveries = counters_.recoveries,
         .cnps_received = counters_.cnps_received};
  if (state.window_bytes) out.cwnd_bytes = static_cast<std::uint32_t>(*state.window_bytes);
  return true;
}

void QueuePair::next_datagram(OutgoingDatagram& out, Time now) noexcept {
  assert(has_datagram(now));
  const bool answers = responder_.has_answer();
  const roce::Message m = answers ? responder_.next_answer() : requester_.next_packet(now);
  write_roce(m, m.opcode == Opcode::kCnp ? config_.cnp_dscp : config_.dscp, out);
  if (echo_) [[unlikely]]
    add_telemetry(m, out);
}

/// Gives a data packet a section for switches to write into, and an answer the newest one.
void QueuePair::add_telemetry(const roce::Message& m, OutgoingDatagram& out) noexcept {
  const bool answers = m.opcode == Opcode::kAcknowledge;
  if (answers ? !echo_->due : !roce::is_data(m.opcode)) return;
  if (answers) echo_->due = false;
  out.head_bytes = roce::add_telemetry(out.head, out.head_bytes,
                                       answers ? echo_->newest : roce::empty_telemetry());
}

std::optional<DropReason> QueuePair::on_datagram(const ReceivedDatagram& datagram,
                                                 Time now) noexcept {
  ++counters_.arrived;
  roce::Message m;
  if (roce::decode(datagram.present, datagram.payload_bytes, m))
    return take_undecoded(datagram, now);
  if (!datagram.icrc_known &&
      roce::icrc(datagram.ip, covered_bytes(datagram)) != datagram.trailer) {
    ++counters_.bad_icrc;
    return DropReason::kBadChecksum;
  }
  return take(m, datagram.ecn, now);
}

/// Takes what decode() refuses: packets with telemetry have opcodes of their own.
std::optional<DropReason> QueuePair::take_undecoded(const ReceivedDatagram& datagram,
                                                    Time now) noexcept {
  roce::Message m;
  roce::TelemetrySection section;
  if (!echo_ || roce::decode_with_telemetry(datagram.present, datagram.payload_bytes, m, section)) {
    ++counters_.malformed;
    return DropReason::kMalformed;
  }
  if (!datagram.icrc_known && roce::icrc_with_telemetry(datagram.ip, covered_bytes(datagram),
                                                        m.opcode) != datagram.trailer) {
    ++counters_.bad_icrc;
    return DropReason::kBadChecksum;
  }
  if (m.opcode == Opcode::kAcknowledge) {
    const roce::Telemetry path = roce::read_telemetry(section);
    return take_answer(m, now, &path);
  }
  *echo_ = {section, true};
  return take(m, datagram.ecn, now);
}

std::optional<DropReason> QueuePair::take(const roce::Message& m, Ecn ecn, Time now) noexcept {
  if (m.opcode == Opcode::kCnp) {
    ++counters_.cnps_received;
    requester_.control().on_cnp(now);
    return std::nullopt;
  }
  if (m.opcode == Opcode::kAcknowledge) return take_answer(m, now);
  const std::uint64_t refused = counters_.refused;
  if (responder_.on_data(m, ecn == Ecn::kCe, now) != 0) listener_.on_received(*this, now);
  if (counters_.refused != refused) return DropReason::kMalformed;
  return std::nullopt;
}

std::optional<DropReason> QueuePair::take_answer(const roce::Message& m, Time now,
                                                 const roce::Telemetry* path) noexcept {
  const std::uint64_t before = requester_.requests().acknowledged_bytes();
  const bool had_given_up = requester_.gave_up();
  if (!requester_.on_acknowledge(m, now, path)) {
    ++counters_.refused;
    return DropReason::kMalformed;
  }
  ++(roce::is_ack(m.syndrome) ? counters_.acks_received : counters_.naks_received);
  if (roce::is_not_ready(m.syndrome)) ++counters_.rnr_naks_received;
  if (requester_.requests().acknowledged_bytes() != before) listener_.on_acknowledged(*this, now);
  if (requester_.gave_up() && !had_given_up) listener_.on_gave_up(*this, now);
  return std::nullopt;
}

void QueuePair::on_timer(Time now) noexcept {
  const bool had_given_up = requester_.gave_up();
  responder_.cnps().on_timer(now);
  requester_.on_timer(now);
  if (requester_.gave_up() && !had_given_up) listener_.on_gave_up(*this, now);
}

}  // namespace outrider::tg
