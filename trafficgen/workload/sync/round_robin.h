#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "common/core/clock.h"
#include "trafficgen/hosts/host.h"
#include "trafficgen/workload/sync/batch_tuner.h"
#include "trafficgen/workload/sync/round_robin_gate.h"

namespace outrider::tg {

/// Acts on a RoundRobinGate for a job: takes note of whole pushes, and lets workers go when
/// it is their turn. There is one for all servers, at the first of them, as in the
/// authors' code. Deviation: what a worker tells it, and its answer, take no time of their
/// own; the parameters that follow do.
class RoundRobin final : private TimerClient {
 public:
  class Owner {
   public:
    /// It is the worker's turn. @param held since its push was there
    virtual void admit(std::uint32_t worker, Duration held, Time now) noexcept = 0;

   protected:
    ~Owner() = default;
  };
  struct Setup {
    RoundRobinGate::Params gate{};
    std::uint32_t batch = 0;        ///< samples before tuning; 0: batches stay as they are
    std::vector<Duration> times{};  ///< [workers]: to compute them; with `batch`
  };
  /// @param host whose timers it uses; it and `owner` must outlive this
  RoundRobin(Owner& owner, Host& host, std::uint32_t workers, const Setup& setup);
  ~RoundRobin() = default;

  /// The worker's push is at all servers.
  void on_pushed(std::uint32_t worker, Time now) noexcept;
  /// It has ended its last iteration.
  void on_done(std::uint32_t worker, Time now) noexcept;

  [[nodiscard]] const RoundRobinGate& gate() const noexcept { return gate_; }
  /// Samples of the worker's next gradient; 0 without tuning.
  [[nodiscard]] std::uint32_t batch(std::uint32_t worker) const noexcept {
    return tuner_ ? tuner_->batch(worker) : 0;
  }
  /// Its computing, to that of the batch it began with.
  [[nodiscard]] double work(std::uint32_t worker) const noexcept {
    return tuner_ ? tuner_->growth(worker) : 1;
  }

 private:
  void on_timer(std::uint32_t tag, Time now) noexcept override;
  void take_turns(Time now) noexcept;

  Owner& owner_;
  Host& host_;
  RoundRobinGate gate_;
  std::optional<BatchTuner> tuner_;
  Time wakes_at_ = kNever;
};

}  // namespace outrider::tg
