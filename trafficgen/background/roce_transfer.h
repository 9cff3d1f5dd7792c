#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trafficgen/background/transfer_config.h"
#include "trafficgen/background/transfer_source.h"
#include "trafficgen/hosts/host.h"
#include "trafficgen/measure/goodput.h"
#include "trafficgen/roce/queue_pair.h"

namespace outrider::tg {

/// Runs the transfers of one [[transfer]] over RoCEv2, over one reliable connection. Each is a
/// WRITE or SEND with immediate, which is its index. They follow one another: in memory at the
/// receiver too, each behind the one before.
///
/// One end may be outside the process; both then know each other's numbers. A transfer from outside
/// begins with its first byte. How the sender cuts its bytes into messages is not looked at, so
/// there is no wrong length. If a transfer fails, those after it fail with it.
/// Not thread-safe: the lcore of the hosts owns it. Nothing allocates after construction.
class RoceTransfer final : public TransferSource, private TimerClient {
 public:
  struct Setup {
    TransferConfig config;
    Host* from = nullptr;  ///< nullptr: outside of this process
    Host* to = nullptr;
    std::uint32_t from_address = 0;
    std::uint32_t to_address = 0;
    RoceConfig roce;
    std::optional<std::uint8_t> priority{};  ///< whose pause frames stop both ends
    std::uint64_t seed = 1;
  };
  /// @param goodput records what a receiver in this process gets, as background
  RoceTransfer(const Setup& setup, GoodputSeries& goodput);
  RoceTransfer(const RoceTransfer&) = delete;
  RoceTransfer& operator=(const RoceTransfer&) = delete;

  void schedule() override;
  [[nodiscard]] bool finished() const noexcept override { return ended_ == attempts_.size(); }
  [[nodiscard]] std::size_t ended() const noexcept override { return ended_; }
  void fill(std::vector<TransferReport>& reports) const override;
  [[nodiscard]] RoceCounters roce() const override;

 private:
  using Outcome = TransferOutcome;
  struct End final : QueuePairListener {
    End(RoceTransfer& t, const QueuePair::Setup& setup)
        : transfer(t), pair(t.setup_.roce, setup, *this) {}
    void on_received(QueuePair&, Time now) noexcept override { transfer.look(now); }
    void on_acknowledged(QueuePair&, Time now) noexcept override { transfer.look(now); }
    void on_gave_up(QueuePair& by, Time now) noexcept override {
      transfer.fail(outcome_of(by.requester().state().gave_up), now);
    }
    RoceTransfer& transfer;
    QueuePair pair;
  };
  /// Counts of the end that sends and of the one that receives, or of the only one twice.
  struct Counts {
    RoceCounters sending, receiving;
  };
  struct Attempt {
    Outcome outcome = Outcome::kWaiting;
    Time opened{}, ended{};
    Counts before, after;
  };

  [[nodiscard]] static Outcome outcome_of(GaveUp why) noexcept;
  void on_timer(std::uint32_t tag, Time now) noexcept override;
  void make_ends();
  void open(Time now) noexcept;
  void look(Time now) noexcept;
  void watch(Time now) noexcept;
  void end(Outcome outcome, Time now) noexcept;
  void fail(Outcome outcome, Time now) noexcept;
  [[nodiscard]] Counts counts() const noexcept;
  /// Returns the bytes of all transfers that have arrived; acknowledged, if the receiver is
  /// outside.
  [[nodiscard]] std::uint64_t progress() const noexcept;
  [[nodiscard]] Host& own_host() const noexcept {
    return setup_.from != nullptr ? *setup_.from : *setup_.to;
  }

  Setup setup_;
  GoodputSeries& goodput_;
  std::optional<End> sender_;  ///< if in this process
  std::optional<End> receiver_;
  std::vector<Attempt> attempts_;
  std::size_t ended_ = 0;        ///< also the transfer that is under way
  std::uint64_t delivered_ = 0;  ///< already in the goodput series
  std::uint64_t watched_ = 0;    ///< progress() at the last check
  Time progress_at_{};
};

}  // namespace outrider::tg
