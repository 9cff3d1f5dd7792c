#pragma once

#include <cstdint>
#include <vector>

#include "common/core/burst_identity.h"
#include "trafficgen/hosts/datagram_endpoint.h"
#include "trafficgen/mlt/mlt_receiver.h"
#include "trafficgen/mlt/mlt_sender.h"

namespace outrider::tg {

class MltEndpoint;

/// Receives the events of an endpoint, for the application above it.
class MltListener {
 public:
  /// New bytes of the current burst arrived. @param satisfied their tensor needs no more
  virtual void on_received(MltEndpoint& endpoint, std::uint32_t tensor, bool satisfied,
                           Time now) noexcept = 0;
  /// The peer has enough of a tensor of the current outgoing burst.
  virtual void on_stopped(MltEndpoint& endpoint, std::uint32_t tensor, Time now) noexcept = 0;
  /// The peer was silent for probe_limit probes: this burst will not be delivered.
  virtual void on_gave_up(MltEndpoint& endpoint, Time now) noexcept = 0;

 protected:
  ~MltListener() = default;
};

/// One end of a pair that exchanges bursts over the bounded-loss transport. The sender of one
/// direction and the receiver of the other share a flow of datagrams and its turn at the NIC.
/// Answers leave before data. There is no handshake: both ends are made before the run and know
/// each other. Not thread-safe.
class MltEndpoint final : public DatagramEndpoint {
 public:
  struct Setup {
    FlowKey flow;            ///< UDP, in this end's direction
    MltSender::Setup sends;  ///< with the same tensors as the peer's receiver
    std::vector<MltTensor> receives;
  };
  /// @param config,control,listener must outlive the endpoint
  MltEndpoint(const MltConfig& config, const ControllerConfig& control, const Setup& setup,
              MltListener& listener);

  // -- for the application, which tells the host of the change after begin_send()
  void begin_send(const BurstIdentity& burst, Time now) noexcept { sender_.begin(burst, now); }
  /// See MltSender::rank_by().
  template <class F>
  void rank_by(F&& magnitude) noexcept {
    sender_.rank_by(magnitude);
  }
  void hand_over(std::uint32_t tensor, Time now) noexcept { sender_.hand_over(tensor, now); }
  void begin_receive(const BurstIdentity& burst) noexcept { receiver_.begin(burst); }
  [[nodiscard]] const MltSender& sender() const noexcept { return sender_; }
  [[nodiscard]] const MltReceiver& receiver() const noexcept { return receiver_; }
  /// Returns the bytes of values that arrived and were new, over all bursts.
  [[nodiscard]] std::uint64_t delivered_bytes() const noexcept { return delivered_bytes_; }

  // -- the host
  [[nodiscard]] bool has_datagram(Time now) const noexcept override;
  void next_datagram(OutgoingDatagram& out, Time now) noexcept override;
  std::optional<DropReason> on_datagram(const ReceivedDatagram& datagram,
                                        Time now) noexcept override;
  [[nodiscard]] Time next_timer() const noexcept override { return sender_.next_timer(); }
  void on_timer(Time now) noexcept override;
  [[nodiscard]] const FlowKey& flow() const noexcept override { return flow_; }
  [[nodiscard]] bool sample(ConnectionSample& out, Time now) const noexcept override;

 private:
  FlowKey flow_;
  MltSender sender_;
  MltReceiver receiver_;
  MltListener& listener_;
  std::uint8_t answer_tos_;
  std::uint64_t delivered_bytes_ = 0;
};

/// Returns the bytes of values in a full packet between hosts with that MTU.
[[nodiscard]] constexpr std::uint32_t mlt_packet_bytes(std::uint32_t mtu_bytes) noexcept {
  constexpr std::uint32_t kHeaders = 20 + 8 + mlt::kDataHeaderBytes;  // IPv4, UDP
  return (mtu_bytes - kHeaders) / mlt::kValueBytes * mlt::kValueBytes;
}

}  // namespace outrider::tg
