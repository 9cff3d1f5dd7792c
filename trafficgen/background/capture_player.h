#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "trafficgen/background/capture_frames.h"
#include "trafficgen/background/capture_report.h"
#include "trafficgen/hosts/host.h"
#include "trafficgen/measure/goodput.h"

namespace outrider::tg {

/// Plays a capture from one host to another: frame k of pass n is due at start + n x period + its
/// time in the capture, and leaves when the NIC is free then. Nothing is answered, and nothing that
/// is lost is sent again. Frames that have to wait are not held in memory: the next one is known by
/// its number.
///
/// Each instant is computed from scratch, so nothing drifts. Nothing allocates after construction.
/// Not thread-safe: the lcore of the hosts owns it.
class CapturePlayer final {
 public:
  struct Setup {
    std::string name;
    Host* from = nullptr;
    Host* to = nullptr;
    std::uint16_t udp_port = 0;
    Time start{};
    std::uint64_t rounds = 1;  ///< 0: for ever
    std::shared_ptr<const CaptureFrames> capture;
  };
  CapturePlayer(const Setup& setup, GoodputSeries& goodput);
  CapturePlayer(const CapturePlayer&) = delete;
  CapturePlayer& operator=(const CapturePlayer&) = delete;

  /// Sets the timer of the first frame. Call it once.
  void schedule(Time now) { setup_.from->changed(sender_, now); }
  [[nodiscard]] const CaptureReport& report() const noexcept { return counts_; }
  [[nodiscard]] const CaptureCounts& counts() const noexcept { return counts_; }
  [[nodiscard]] const std::string& name() const noexcept { return setup_.name; }

 private:
  /// The end that sends.
  class Sender final : public DatagramEndpoint {
   public:
    explicit Sender(CapturePlayer& player);
    [[nodiscard]] bool has_datagram(Time now) const noexcept override { return due_ <= now; }
    void next_datagram(OutgoingDatagram& out, Time now) noexcept override;
    std::optional<DropReason> on_datagram(const ReceivedDatagram&, Time) noexcept override {
      return DropReason::kNoConnection;  // nobody answers
    }
    [[nodiscard]] Time next_timer() const noexcept override { return told_ ? kNever : due_; }
    void on_timer(Time now) noexcept override { told_ = due_ <= now; }
    [[nodiscard]] const FlowKey& flow() const noexcept override { return flow_; }

   private:
    CapturePlayer& player_;
    FlowKey flow_;
    std::uint64_t round_ = 0;
    std::size_t frame_ = 0;
    Time due_ = kNever;  ///< of the next frame
    bool told_ = false;  ///< it is due: the NIC knows, and needs no timer while it is busy
  };
  /// The end that takes what arrives.
  class Receiver final : public DatagramEndpoint {
   public:
    Receiver(CapturePlayer& player, GoodputSeries& goodput);
    [[nodiscard]] bool has_datagram(Time) const noexcept override { return false; }
    void next_datagram(OutgoingDatagram&, Time) noexcept override {}
    std::optional<DropReason> on_datagram(const ReceivedDatagram& datagram,
                                          Time now) noexcept override;
    [[nodiscard]] Time next_timer() const noexcept override { return kNever; }
    void on_timer(Time) noexcept override {}
    [[nodiscard]] const FlowKey& flow() const noexcept override { return flow_; }

   private:
    CapturePlayer& player_;
    GoodputSeries& goodput_;
    FlowKey flow_;
  };

  Setup setup_;
  CaptureReport counts_;
  Sender sender_;
  Receiver receiver_;
};

}  // namespace outrider::tg
