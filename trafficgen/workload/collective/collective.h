#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/core/clock.h"
#include "trafficgen/import/step_list.h"
#include "trafficgen/measure/job_report.h"
#include "trafficgen/policy/message_config.h"
#include "trafficgen/policy/policy_config.h"
#include "trafficgen/policy/send_policy.h"
#include "trafficgen/workload/exchange/exchange.h"
#include "trafficgen/workload/sync/staleness_gate.h"

namespace outrider::tg {

class Host;
class JobRecords;
struct PullStarts;

/// The parameters of a collective.
struct CollectiveSetup {
  std::uint16_t job = 0;
  std::vector<Host*> workers{};
  std::vector<Host*> servers{};              ///< none among workers alone
  std::vector<std::uint64_t> shard_bytes{};  ///< [servers]
  std::uint64_t burst_bytes = 0;             ///< of all gradients of the model
  StepList step_list{};                      ///< kSteps; see steps_schedule()
  std::uint32_t iterations = 1;              ///< at most
  std::uint32_t unit_bytes = 1;              ///< size of a unit that must not be cut in two
  std::vector<GradientPiece> pieces{};       ///< of an iteration, in the order of readiness
  SendPolicyKind send_policy = SendPolicyKind::kFifo;
  PolicyConfig policy{};       ///< for the answers of servers
  PolicyConfig push_policy{};  ///< for the pushes
  MessageConfig message{};     ///< what each message costs
  bool by_tensor = false;      ///< servers answer every piece separately
  bool pull = true;            ///< servers send the parameters back
  bool in_turn = false;        ///< R2SP: the owner admits workers, whatever a server's gate decides
  Duration aggregate{};        ///< from the last gradient to the first parameter
  StalenessGate gate{1, 0U};   ///< each server begins with a copy of it
  const PullStarts* pull_starts = nullptr;  ///< outlives the collective; null: pulls have no START
};

/// Decides who sends what to whom so that the gradients of all workers become parameters.
///
/// A collective plans the lanes of a job's Exchange, hears what they carry, and decides what leaves
/// next. It does not know how bytes travel, when gradients are ready or who may go on. The Owner
/// (the job) tells it what is ready and is told what has arrived.
///
/// Calls: plan() before the exchange is made, attach() after it. Then for every iteration of a
/// worker: begin(), on_ready() for each piece, and on_released() once, when the burst may leave.
/// Pieces that are ready earlier wait for on_released(); after pieces that become ready later,
/// more() is called.
///
/// Promises, for each worker and iteration:
///  * Owner::on_pushed() is called once for each target that has the whole push, and
///    Owner::on_pulled() once for each target that answers.
///  * Owner::on_done() is called once, after all that the worker waits for has arrived. Without
///    pulls, parameter servers leave this to the owner.
///  * Every byte of every part is handed over once, after on_released().
///  * Nothing is handed over to a peer that is gone, and nobody else stops because of it.
///
/// Owns its participants; borrows hosts, records, owner and exchange, which must outlive it.
/// Bounds: state is made at construction, nothing allocates afterwards. One lcore.
class CollectiveOperation : public Exchange::Listener {
 public:
  class Owner {
   public:
    /// The target has the worker's push, as far as it will arrive.
    virtual void on_pushed(const Lane& lane, std::uint32_t iteration, const BurstArrival& arrival,
                           Time now) noexcept = 0;
    /// The worker has the target's parameters, as far as they will arrive.
    virtual void on_pulled(const Lane& lane, std::uint32_t iteration, const BurstArrival& arrival,
                           Time now) noexcept = 0;
    /// The worker has parameters of a part of that tensor.
    virtual void on_parameters(std::uint32_t worker, std::uint32_t tensor, Time now) noexcept = 0;
    /// The target sends its current parameters to the worker now.
    virtual void on_answered(const Lane& lane) noexcept = 0;
    /// Nothing delays the worker's answer any more.
    virtual void on_cleared(std::uint32_t worker, std::uint32_t iteration, Time now) noexcept = 0;
    /// The worker's update was applied after `updates` updates of others that it had not read.
    virtual void on_staleness(std::uint32_t worker, std::uint32_t iteration,
                              std::uint64_t updates) noexcept = 0;
    /// The worker does not compute from `from` to `to`, because it hands over a message.
    virtual void on_blocked(std::uint32_t worker, Time from, Time to) noexcept = 0;
    /// The worker has received all that it waited for.
    virtual void on_done(std::uint32_t worker, std::uint32_t iteration, Time now) noexcept = 0;
    /// A burst will never be delivered.
    virtual void on_lost(Time now) noexcept = 0;

   protected:
    ~Owner() = default;
  };

  virtual ~CollectiveOperation() = default;

  /// Fills in the lanes: targets, ends, parts, and which events the exchange must report.
  virtual void plan(ExchangeSetup& setup) const = 0;
  /// @param exchange made from the setup that plan() filled, with this as its listener
  virtual void attach(Exchange& exchange) noexcept = 0;
  /// Bytes of a worker's push to one target.
  [[nodiscard]] virtual std::uint64_t push_bytes(std::uint32_t worker,
                                                 std::uint32_t target) const noexcept = 0;
  /// Returns true if bursts go back to the workers.
  [[nodiscard]] virtual bool answers() const noexcept = 0;

  virtual void begin(std::uint32_t worker, std::uint32_t iteration, Time now) noexcept = 0;
  /// @param last no other piece of the iteration follows
  virtual void on_ready(std::uint32_t worker, const GradientPiece& piece, bool last,
                        Time now) noexcept = 0;
  virtual void on_released(std::uint32_t worker, Time now) noexcept = 0;
  virtual void more(std::uint32_t worker, Time now) noexcept = 0;
  /// It is the worker's turn to get its answer. @pre in_turn, and all servers have its push
  virtual void admit(std::uint32_t worker, Time now) noexcept = 0;
  /// Adds what became of STARTs for pulls. @param ack_timeouts  pulls that left without an answer
  virtual void add_starts(StartCounts& starts, std::uint64_t& ack_timeouts) const = 0;
  /// Returns what became of the steps of a list.
  [[nodiscard]] virtual std::span<const StepRecord> steps() const noexcept { return {}; }
};

/// Returns the ledger of a push that is released now: the time since it was due counts as kSignal.
[[nodiscard]] inline BurstLedger released_ledger(const BurstRecord& push, Time now) noexcept {
  BurstLedger ledger(push.identity, Time{Duration{push.due_ns}});
  ledger.advance(now, BurstTime::kSignal);
  return ledger;
}

}  // namespace outrider::tg
