#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "trafficgen/hosts/host.h"
#include "trafficgen/measure/job_report.h"
#include "trafficgen/workload/announce/signal_faults.h"
#include "trafficgen/workload/config/job_config.h"
#include "trafficgen/workload/exchange/exchange.h"

namespace outrider::tg {

/// Announces the bursts of one worker, or those of one server to one worker. It sends STARTs when
/// they are due, counts the answers, and decides whether the burst has to wait for them. STARTs
/// that are not answered leave again while the burst waits, at growing distances and at most as
/// often as configured. It also applies the configured faults to STARTs (SignalFaults).
///
/// With `lead_limit` the lead follows what switches tell in their answers, from the next iteration
/// on. Anybody who can answer in a switch's place can tell a lead, so it stays from `lead` to
/// `lead_limit`.
///
/// The client calls begin(), on_ready() and on_released() once each for every burst, in that order.
/// It asks holds() after every event and calls on_released() when holds() returns false. The
/// announcer knows neither the transport nor the collective; it asks the Client where a burst
/// begins. Not thread-safe. After construction only the host's table of listeners allocates.
class BurstAnnouncer final : private TimerClient, private SignalListener {
 public:
  class Client {
   public:
    /// Returns where the next burst to that target will begin; chooses a flow if there is none yet.
    /// FlowKey{}: there is nobody to send to, and no START is sent.
    virtual BurstPlace next_place(std::uint32_t target) noexcept = 0;
    /// Returns the flow that next_place() chose; FlowKey{} if it is closed or none was chosen.
    [[nodiscard]] virtual FlowKey flow(std::uint32_t target) const noexcept = 0;
    /// Returns the record of the burst of that iteration, for the times of its START.
    virtual BurstRecord& burst(std::uint32_t iteration) noexcept = 0;
    /// holds() may have become false.
    virtual void on_hold_ended(Time now) noexcept = 0;

   protected:
    ~Client() = default;
  };
  struct Target {
    Host* host = nullptr;
    std::uint64_t burst_bytes = 0;  ///< size of each burst to it
  };
  struct Setup {
    AnnounceConfig config{};
    std::uint32_t worker = 0;    ///< whose faults are drawn
    std::uint16_t tcp_port = 0;  ///< port of the targets, for forged STARTs
    std::vector<Target> targets{};
    const SignalKey* key = nullptr;  ///< signs STARTs of the UDP form, outlives the hosts' traffic
    std::uint8_t dscp = 0;           ///< of the bursts' packets
  };

  /// @param faults,host,client must outlive the announcer
  BurstAnnouncer(const Setup& setup, const SignalFaults& faults, Host& host, Client& client);
  ~BurstAnnouncer() = default;

  /// Begins the job. Call it after the first begin().
  void start(Time now) noexcept;
  /// Begins an iteration. @param ready_at when its first gradients are planned to be ready
  void begin(std::uint32_t iteration, Time ready_at, Time now) noexcept;
  /// The burst is due. May call on_hold_ended().
  void on_ready(Time now) noexcept;
  /// Returns true while the burst must wait for its START, for answers or for the rest of the lead.
  [[nodiscard]] bool holds(Time now) const noexcept;
  /// The burst leaves now. Remembers where it begins, for STARTs that are sent after it.
  void on_released() noexcept;

  [[nodiscard]] const StartCounts& counts() const noexcept { return counts_; }
  /// Returns the number of bursts that left because no answer came in time.
  [[nodiscard]] std::uint64_t timeouts() const noexcept { return timeouts_; }

 private:
  /// State of one target.
  struct State {
    bool answered = true;  ///< its ACK is here, or none is awaited
    FlowKey heard{};       ///< flow whose ACK is listened for; FlowKey{}: none
    BurstPlace pushed{};   ///< place of the last burst that has left
    UdpStart start{};      ///< the last START, to be copied
  };
  enum Tag : std::uint32_t {
    kStartDue,
    kLeadOver,
    kAckTimeout,
    kRepeatDue,
    kCopyDue,
    kForgeryDue,
    kReplayDue,
    kTags
  };

  void set_timer(Tag tag, std::uint32_t iteration, Time at) noexcept;
  void on_timer(std::uint32_t tag, Time now) noexcept override;
  void on_signal_ack(const FlowKey& flow, std::optional<Duration> told_lead,
                     Time now) noexcept override;
  void take_told_lead() noexcept;
  void on_timeout(Time now) noexcept;
  void announce(Time now) noexcept;
  void announce_afterwards(std::uint32_t iteration, Time now) noexcept;
  [[nodiscard]] UdpStart start_of(std::uint32_t target, const BurstPlace& place,
                                  const BurstIdentity& burst, Time due_at) const noexcept;
  void send_start(const UdpStart& start, Time now) noexcept;
  void send_meant(const UdpStart& start, const SignalFault& fault, Time now) noexcept;
  void on_repeat_due(Time now) noexcept;
  void begin_copies(std::uint32_t iteration, const SignalFault& fault, Time now) noexcept;
  void on_copy_due(std::uint32_t iteration, Time now) noexcept;
  void send_copies(Time now) noexcept;
  void forge(Time now) noexcept;
  void replay(Time now) noexcept;

  Setup setup_;
  const SignalFaults& faults_;
  Host& host_;
  Client& client_;
  std::vector<State> targets_;
  std::uint32_t iteration_ = 0;
  Time ready_at_{};
  SignalFault fault_{};  ///< applies to this iteration's STARTs
  bool announced_ = false;
  bool answered_ = false;  ///< all ACKs are here, or they timed out
  bool released_ = false;
  Duration lead_;                      ///< of this iteration's STARTs
  std::optional<Duration> told_lead_;  ///< the longest that answers have told since begin()
  Time lead_over_at_{};
  std::uint32_t acks_missing_ = 0;
  std::uint32_t repeats_ = 0;    ///< of this iteration's STARTs, so far
  std::uint32_t copies_of_ = 0;  ///< iteration whose STARTs are being copied
  std::uint32_t copies_left_ = 0;
  std::uint64_t forged_ = 0;
  std::optional<SignalKey> strange_key_;  ///< signs forged STARTs
  std::uint64_t replays_due_ = 0;
  std::uint64_t timeouts_ = 0;
  StartCounts counts_;
};

}  // namespace outrider::tg
