#pragma once

#include <cstdint>
#include <optional>

#include "common/core/clock.h"
#include "common/net/mlt_message.h"
#include "trafficgen/mlt/settled_loss.h"
#include "trafficgen/transport/control/controller_slot.h"

namespace outrider::tg {

/// The congestion window of a flow of the bounded-loss transport. It limits what was transmitted
/// and not yet seen by the receiver. FEEDBACK reports running totals of what was seen, what of it
/// arrived and what was marked, so that a lost FEEDBACK does no harm. What was seen but did not
/// arrive is lost, unless it was only overtaken (SettledLoss). Lost bytes count as marked ones, so
/// that the window shrinks by the affected share (DCTCP's rule), and a loss within the bound does
/// not halve it. Bytes are those of values. Not thread-safe.
class MltWindow {
 public:
  /// @param control must outlive the window
  MltWindow(const ControllerConfig& control, std::uint32_t packet_bytes)
      : packet_bytes_(packet_bytes), control_(control, static_cast<std::uint16_t>(packet_bytes)) {}

  [[nodiscard]] std::uint32_t packet_bytes() const noexcept { return packet_bytes_; }
  /// Begins a burst: what is still in flight of the last one does not count against it.
  void begin() noexcept;
  [[nodiscard]] std::uint32_t in_flight_bytes() const noexcept {
    return static_cast<std::uint32_t>(transmitted_ - seen_);
  }
  /// Returns true if a packet may leave.
  [[nodiscard]] bool open() const noexcept {
    return in_flight_bytes() == 0 || in_flight_bytes() + packet_bytes_ <= control_->cwnd_bytes();
  }
  void on_sent(std::uint32_t bytes) noexcept {
    transmitted_ += bytes;
    if (!open()) full_until_ = transmitted_;
  }
  /// Returns the total of what was transmitted, modulo 2^32.
  [[nodiscard]] std::uint32_t transmitted_bytes() const noexcept {
    return static_cast<std::uint32_t>(transmitted_);
  }

  /// What a FEEDBACK says that earlier ones did not.
  struct News {
    std::uint32_t seen = 0;
    std::uint32_t lost = 0;
    std::uint32_t marked = 0;
    std::uint32_t in_flight = 0;  ///< before
  };
  /// @param reordering see SettledLoss::on_report()
  /// @return nothing if it tells of bytes that were never sent
  [[nodiscard]] std::optional<News> take(const mlt::Message& feedback, Duration reordering,
                                         Time now) noexcept;
  /// @param suffered bytes, of those seen, that were marked or lost
  /// @return true if the window was reduced
  bool adjust(const News& news, std::uint32_t suffered, Duration srtt, Duration rtt,
              Time now) noexcept;
  void on_idle(Duration idle, Duration rto) noexcept { control_->on_idle(idle, rto); }
  void on_timeout(Time now) noexcept { control_->on_timeout(in_flight_bytes(), now); }
  [[nodiscard]] const CongestionControl& control() const noexcept { return *control_; }

 private:
  std::uint32_t packet_bytes_;
  std::uint64_t transmitted_ = 0;
  std::uint64_t seen_ = 0;      ///< of these, seen by the receiver or never to be seen
  std::uint64_t received_ = 0;  ///< of these, according to the receiver
  std::uint32_t marked_ = 0;    ///< according to the receiver, modulo 2^32
  SettledLoss loss_{};          ///< of seen_ - received_
  std::uint64_t reduced_until_ = 0;
  std::uint64_t full_until_ = 0;
  ControllerSlot control_;
};

}  // namespace outrider::tg
