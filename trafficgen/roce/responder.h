#pragma once

#include <cstdint>
#include <optional>

#include "common/net/roce.h"
#include "trafficgen/measure/roce_counters.h"
#include "trafficgen/roce/notification_point.h"
#include "trafficgen/roce/reorder_window.h"
#include "trafficgen/roce/roce_config.h"

namespace outrider::tg {

/// The side of a queue pair that takes RDMA WRITEs and SENDs, as hardware does: the opcode tells
/// which. There is always a receive buffer for a SEND and for an immediate, of any length. It
/// acknowledges every `ack_packets` packets and whenever the requester asks, and sends CNPs when
/// its NotificationPoint says so.
///
/// With go-back-N it takes packets in the order of their PSNs only and sends one NAK for each gap.
/// With selective repeat it also keeps packets behind a gap, up to `window_packets` beyond the one
/// that it expects, and sends a NAK for each of them. Nothing allocates after construction. Not
/// thread-safe.
///
/// Source: InfiniBand Architecture Specification 1.2.1, sections 9.7.4 and 9.7.5; Zhu et al.,
/// SIGCOMM 2015, section 3.1; for selective repeat Mittal et al., SIGCOMM 2018, section 3.1.
class Responder {
 public:
  struct Setup {
    std::uint32_t path_mtu = 1024;
    std::uint32_t own_queue_pair = 0;  ///< and the key of its memory
    std::uint32_t peer_queue_pair = 0;
    std::uint32_t first_psn = 0;
  };
  /// @param config,counters must outlive the responder
  Responder(const RoceConfig& config, const Setup& setup, RoceCounters& counters)
      : config_(config),
        setup_(setup),
        counters_(counters),
        expected_psn_(setup.first_psn),
        cnps_(config),
        window_(config.repair == RoceRepair::kSelective ? config.window_packets : 0) {}

  /// Takes a packet of a WRITE or SEND. @return the new bytes in order; 0 if it brought none
  std::uint32_t on_data(const roce::Message& m, bool ce, Time now) noexcept;

  [[nodiscard]] bool has_answer() const noexcept {
    return answers_by_cnp() || nak_due_ || ack_due_ || window_.has_nak();
  }
  /// Returns an answer, CNPs first: they must not wait. Those with a priority of their own are not
  /// among the answers. @pre has_answer()
  [[nodiscard]] roce::Message next_answer() noexcept;
  /// @pre cnps().due()
  [[nodiscard]] roce::Message next_cnp() noexcept;
  /// Returns the part that says when CNPs are due; its timer is the caller's.
  [[nodiscard]] NotificationPoint& cnps() noexcept { return cnps_; }
  [[nodiscard]] const NotificationPoint& cnps() const noexcept { return cnps_; }
  [[nodiscard]] std::uint64_t delivered_bytes() const noexcept { return delivered_bytes_; }
  /// Expects a new message that begins with that PSN: the requester has abandoned what came before.
  void skip_to(std::uint32_t psn) noexcept;

 private:
  using Early = ReorderWindow::Early;

  [[nodiscard]] bool is_whole(const roce::Message& m) const noexcept;
  [[nodiscard]] bool continues(const Early& packet) const noexcept;
  void on_gap(const roce::Message& m, std::uint32_t ahead) noexcept;
  void deliver(const Early& packet) noexcept;
  void deliver_kept() noexcept;
  [[nodiscard]] bool answers_by_cnp() const noexcept {
    return cnps_.due() && !config_.cnp_priority;
  }

  const RoceConfig& config_;
  Setup setup_;
  RoceCounters& counters_;
  std::uint32_t expected_psn_;
  std::uint32_t message_number_ = 0;  ///< messages that have arrived whole, modulo 2^24
  /// Bytes that the message lacks; 0: none has begun. A SEND may have up to so many.
  std::uint32_t message_left_ = 0;
  bool message_is_send_ = false;
  std::uint32_t unacknowledged_ = 0;  ///< packets
  std::uint64_t delivered_bytes_ = 0;
  bool nak_sent_ = false;  ///< for the gap before which packets now arrive
  bool nak_due_ = false;
  bool ack_due_ = false;
  NotificationPoint cnps_;
  ReorderWindow window_;
};

}  // namespace outrider::tg
