#pragma once

#include <cassert>
#include <cstdint>

#include "trafficgen/hosts/datagram_endpoint.h"
#include "trafficgen/roce/responder.h"

namespace outrider::tg {

/// Writes a packet of RoCEv2 into a datagram.
inline void write_roce(const roce::Message& m, std::uint32_t dscp, OutgoingDatagram& out) noexcept {
  static_assert(roce::kMaxHeaderBytes <= OutgoingDatagram::kMaxHeadBytes);
  out.head_bytes = roce::encode(m, std::span(out.head).first<roce::kMaxHeaderBytes>());
  out.value_bytes = m.payload_bytes + roce::pad_of(m.payload_bytes);
  out.tos = static_cast<std::uint8_t>(dscp << 2 | static_cast<std::uint8_t>(Ecn::kEct0));
  out.icrc = true;
}

/// Sends the CNPs of a queue pair at turns of their own, where they have a priority of their own.
/// The queue pair takes what arrives, and has the timer.
class CnpSender final : public DatagramEndpoint {
 public:
  /// @param config,flow,responder of the queue pair, must outlive this
  CnpSender(const RoceConfig& config, const FlowKey& flow, Responder& responder) noexcept
      : config_(config), flow_(flow), responder_(responder) {}

  [[nodiscard]] bool has_datagram(Time /*now*/) const noexcept override {
    return responder_.cnps().due();
  }
  void next_datagram(OutgoingDatagram& out, Time /*now*/) noexcept override {
    write_roce(responder_.next_cnp(), config_.cnp_dscp, out);
  }
  std::optional<DropReason> on_datagram(const ReceivedDatagram& /*datagram*/,
                                        Time /*now*/) noexcept override {
    assert(false);
    return DropReason::kNoConnection;
  }
  [[nodiscard]] Time next_timer() const noexcept override { return kNever; }
  void on_timer(Time /*now*/) noexcept override {}
  [[nodiscard]] const FlowKey& flow() const noexcept override { return flow_; }

 private:
  const RoceConfig& config_;
  const FlowKey& flow_;
  Responder& responder_;
};

}  // namespace outrider::tg
