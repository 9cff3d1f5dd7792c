#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "common/core/clock.h"
#include "trafficgen/hosts/host.h"
#include "trafficgen/workload/sync/batch_tuner.h"
#include "trafficgen/workload/sync/round_robin_gate.h"

namespace outrider::tg {

/// Runs a RoundRobinGate for a job: tells it of whole pushes, and lets workers go on when it is
/// their turn. As in the authors' code there is one for all servers, at the first server.
/// Deviation: a worker's report and the answer to it take no time; the parameters that follow do.
class RoundRobin final : private TimerClient {
 public:
  class Owner {
   public:
    /// It is the worker's turn. @param held time since its push arrived
    virtual void admit(std::uint32_t worker, Duration held, Time now) noexcept = 0;

   protected:
    ~Owner() = default;
  };
  struct Setup {
    RoundRobinGate::Params gate{};
    std::uint32_t batch = 0;        ///< samples before tuning; 0: batches stay as they are
    std::vector<Duration> times{};  ///< [workers]: time to compute a first batch; used with `batch`
  };
  /// @param host provides the timers; it and `owner` must outlive this
  RoundRobin(Owner& owner, Host& host, std::uint32_t workers, const Setup& setup);
  ~RoundRobin() = default;

  /// All servers have the worker's push.
  void on_pushed(std::uint32_t worker, Time now) noexcept;
  /// The worker has ended its last iteration.
  void on_done(std::uint32_t worker, Time now) noexcept;

  [[nodiscard]] const RoundRobinGate& gate() const noexcept { return gate_; }
  /// Returns the samples of the worker's next gradient; 0 without tuning.
  [[nodiscard]] std::uint32_t batch(std::uint32_t worker) const noexcept {
    return tuner_ ? tuner_->batch(worker) : 0;
  }
  /// Returns the worker's computing work as a multiple of that for its first batch.
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
