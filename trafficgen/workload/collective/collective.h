#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/core/clock.h"
#include "trafficgen/measure/job_report.h"
#include "trafficgen/policy/policy_config.h"
#include "trafficgen/policy/send_policy.h"
#include "trafficgen/workload/exchange/exchange.h"
#include "trafficgen/workload/sync/staleness_gate.h"

namespace outrider::tg {

class Host;
class JobRecords;

/// What a collective is made of.
struct CollectiveSetup {
  std::uint16_t job = 0;
  std::vector<Host*> workers{};
  std::vector<Host*> servers{};              ///< none in a ring
  std::vector<std::uint64_t> shard_bytes{};  ///< [servers]
  std::uint64_t burst_bytes = 0;             ///< of the model
  std::uint32_t unit_bytes = 1;              ///< that must not be cut in two
  std::vector<GradientPiece> pieces{};       ///< of an iteration, in the order of readiness
  SendPolicyKind send_policy = SendPolicyKind::kFifo;
  PolicyConfig policy{};       ///< of the answers
  PolicyConfig push_policy{};  ///< of the pushes
  bool by_tensor = false;      ///< servers answer every piece by itself
  bool pull = true;            ///< servers send the parameters back
  bool in_turn = false;        ///< the owner admits workers, whatever a server's gate says
  Duration aggregate{};        ///< last gradient to first parameter
  StalenessGate gate{1, 0U};   ///< for each server to begin with a copy of
};

/// Who sends what to whom so that the gradients of all workers become parameters.
///
/// A collective plans the lanes of a job's Exchange, hears what they carry, and says what
/// leaves next. It does not know how bytes travel, when gradients are ready or who may go on:
/// the Owner (the job) tells it what is ready and is told what has come.
///
/// Calls: plan() before the exchange is made, attach() after it; then for every iteration of
/// a worker begin(), on_ready() of each piece, once on_released() when its burst may leave
/// (pieces that are ready before it wait), and more() after pieces that became ready behind
/// it.
///
/// Promises, of each worker and iteration:
///  * Owner::on_pushed() comes once for each of its targets that has all of the push, and
///    Owner::on_pulled() once for each target that answers.
///  * Owner::on_done() comes once, after all that the worker waits for has come. With pulls
///    off, parameter servers leave that to the owner.
///  * Every byte of every part is handed over once, after on_released().
///  * Nothing is handed over to a peer that is gone, and nobody else stops for it.
///
/// Owns its participants; borrows hosts, records, owner and exchange, which must outlive it.
/// Bounds: state is made at construction, nothing allocates afterwards. One lcore.
class CollectiveOperation : public Exchange::Listener {
 public:
  class Owner {
   public:
    /// The target has the worker's push, as far as it will come.
    virtual void on_pushed(const Lane& lane, std::uint32_t iteration, const BurstArrival& arrival,
                           Time now) noexcept = 0;
    /// The worker has the target's parameters, as far as they will come.
    virtual void on_pulled(const Lane& lane, std::uint32_t iteration, const BurstArrival& arrival,
                           Time now) noexcept = 0;
    /// The worker has parameters of a part of that tensor.
    virtual void on_parameters(std::uint32_t worker, std::uint32_t tensor, Time now) noexcept = 0;
    /// The target's parameters of now leave for the worker.
    virtual void on_answered(const Lane& lane) noexcept = 0;
    /// Nothing keeps the worker's answer any more.
    virtual void on_cleared(std::uint32_t worker, std::uint32_t iteration, Time now) noexcept = 0;
    /// The worker's update was applied behind that many others.
    virtual void on_staleness(std::uint32_t worker, std::uint32_t iteration,
                              std::uint64_t updates) noexcept = 0;
    /// The worker has all that it waited for.
    virtual void on_done(std::uint32_t worker, std::uint32_t iteration, Time now) noexcept = 0;
    /// A burst will never be delivered.
    virtual void on_lost(Time now) noexcept = 0;

   protected:
    ~Owner() = default;
  };

  virtual ~CollectiveOperation() = default;

  /// Fills in what the lanes are: targets, ends, parts, and what is to be told.
  virtual void plan(ExchangeSetup& setup) const = 0;
  /// @param exchange made of what plan() said, with this as its listener
  virtual void attach(Exchange& exchange) noexcept = 0;
  /// Bytes of a worker's push to one target.
  [[nodiscard]] virtual std::uint64_t push_bytes(std::uint32_t worker,
                                                 std::uint32_t target) const noexcept = 0;
  /// Do bursts go back to the workers?
  [[nodiscard]] virtual bool answers() const noexcept = 0;

  virtual void begin(std::uint32_t worker, std::uint32_t iteration, Time now) noexcept = 0;
  /// @param last no other piece of the iteration follows
  virtual void on_ready(std::uint32_t worker, const GradientPiece& piece, bool last,
                        Time now) noexcept = 0;
  virtual void on_released(std::uint32_t worker, Time now) noexcept = 0;
  virtual void more(std::uint32_t worker, Time now) noexcept = 0;
  /// It is the worker's turn. @pre in_turn, and its push is everywhere
  virtual void admit(std::uint32_t worker, Time now) noexcept = 0;
};

/// A push that is released now, and where its time went since it was due.
[[nodiscard]] inline BurstLedger released_ledger(const BurstRecord& push, Time now) noexcept {
  BurstLedger ledger(push.identity, Time{Duration{push.due_ns}});
  ledger.advance(now, BurstTime::kSignal);
  return ledger;
}

}  // namespace outrider::tg
