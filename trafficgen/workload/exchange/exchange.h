#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "common/core/burst_identity.h"
#include "common/core/burst_ledger.h"
#include "common/core/clock.h"
#include "common/core/flow_key.h"
#include "trafficgen/core/byte_range.h"
#include "trafficgen/measure/flow_totals.h"
#include "trafficgen/measure/roce_counters.h"
#include "trafficgen/transport/base/tcp_config.h"
#include "trafficgen/workload/exchange/lane.h"

namespace outrider::tg {

class GradientMagnitudes;
class Host;

/// The place at which a burst begins in the flow that carries it.
struct BurstPlace {
  FlowKey flow{};              ///< in the sender's direction
  std::uint32_t sequence = 0;  ///< sequence number of the burst's first byte
};

/// A part of a lane's bursts. It is the same in every iteration.
struct BurstPart {
  std::uint64_t bytes = 0;               ///< > 0
  std::optional<std::uint32_t> layer{};  ///< in forward order; nothing: whole model
  bool parameters = false;               ///< sums or answers instead of gradients
};

/// A burst as it arrived.
struct BurstArrival {
  std::uint64_t bytes = 0;               ///< that have arrived
  std::span<const ByteRange> missing{};  ///< that will never arrive; valid within the call
};

/// Carries the bytes of a job's bursts from one host to another.
///
/// A job has a Lane for pushes and one for pulls between each worker and each of its targets.
/// ExchangeSetup::pushes and ::pulls fix the parts of each lane's bursts. The owner decides what
/// leaves and when; the exchange drives the hosts and reports arrivals to the Listener. It does not
/// know why bytes go to whom.
///
/// Calls, in this order: start() once; open() once for each worker; then for each iteration of
/// a worker begin_iteration(), begin_push(), hand_over() of each part of each target once,
/// end_push(), end_iteration(). begin_pull() and hand_over() of the pull's parts come between
/// that worker's begin_push() and its end_iteration(). One burst of a lane at a time: the next
/// one begins when idle() says so.
///
/// Promises:
///  * on_burst() is called once for a burst that was handed over whole, after all other calls for
///    that burst. It reports the bytes that arrived; these and `missing` make up the burst. It
///    never reports more bytes than were handed over, nor any before they were.
///  * With ExchangeSetup::parts_told, on_part() is called once for each part, always before
///    on_burst(). An exchange that keeps order calls it in the order of hand_over().
///  * If acknowledgments are asked for, on_acknowledged() reports as many bytes in total as were
///    handed over, at the latest when the lane's next burst begins, and never more.
///  * A burst whose peer is gone is never reported as complete. Data handed over for it are lost;
///    calls stay permitted.
///
/// Owns its flows and its ends of connections. Borrows hosts and records, which must outlive it.
/// Not thread-safe: one lcore owns the job. Bounds: the state is a multiple of lanes and parts and
/// is made at construction; afterwards only Host::open() allocates.
class Exchange {
 public:
  /// Receives reports of arrivals. Calls come from within the hosts' events and may call the
  /// exchange.
  class Listener {
   public:
    /// The part of the lane's current burst is complete: no more of it will come.
    virtual void on_part(const Lane& lane, std::uint32_t part, Time now) noexcept = 0;
    virtual void on_burst(const Lane& lane, const BurstArrival& arrival, Time now) noexcept = 0;
    /// The receiver has `bytes` more of the data handed over, in order. An exchange that tolerates
    /// loss reports a part as soon as the receiver needs no more of it.
    virtual void on_acknowledged(const Lane& lane, std::uint64_t bytes, Time now) noexcept = 0;
    /// idle() has become true.
    virtual void on_idle(const Lane& lane, Time now) noexcept = 0;
    /// A burst will never be delivered because its receiver has fallen silent.
    virtual void on_gave_up(Time now) noexcept = 0;

   protected:
    ~Listener() = default;
  };

  virtual ~Exchange() = default;

  /// Listens where necessary. Call it before the job begins.
  virtual void start() = 0;
  /// Opens the kept connections of this worker, at the begin of the job.
  virtual void open(std::uint32_t worker, Time now) noexcept = 0;
  virtual void begin_iteration(std::uint32_t worker, std::uint32_t iteration) noexcept = 0;
  /// The worker has received all that it waited for.
  virtual void end_iteration(std::uint32_t worker) noexcept = 0;

  /// Returns where the lane's next burst will begin. A push has a flow chosen if there is none; a
  /// pull without a connection has FlowKey{}.
  [[nodiscard]] virtual BurstPlace next_place(const Lane& lane) noexcept = 0;
  /// Returns the flow of the lane's bursts; FlowKey{} if none is chosen.
  [[nodiscard]] virtual FlowKey flow(const Lane& lane) const noexcept = 0;

  /// Begins a push on all lanes of the worker that `burst` names.
  /// @param burst identity of the push, and where its time went until now
  /// @param idle the account for time in which nothing of the push is handed over
  virtual void begin_push(const BurstLedger& burst, BurstTime idle, Time now) noexcept = 0;
  /// Begins a pull on one lane.
  virtual void begin_pull(const BurstLedger& burst, std::uint32_t target, Time now) noexcept = 0;
  /// Hands over bytes of the lane's burst, which may leave now.
  /// @param part of the lane's burst; any value if parts are not told
  /// @param bytes of the part; of the whole burst if parts are not told
  virtual void hand_over(const Lane& lane, std::uint32_t part, std::uint64_t bytes,
                         Time now) noexcept = 0;
  /// Hands over all parts of the lane's burst, in order.
  virtual void hand_over_all(const Lane& lane, Time now) noexcept = 0;
  /// States that nothing more will be handed over for the lane's burst. May be called again.
  virtual void end(const Lane& lane, Time now) noexcept = 0;

  /// Returns true if the lane's next burst may begin.
  [[nodiscard]] virtual bool idle(const Lane& lane) const noexcept = 0;
  /// Returns true if the lane has a peer to send to. @pre a burst of the lane has begun
  [[nodiscard]] virtual bool connected(const Lane& lane) const noexcept = 0;
  /// Returns when the first packet of the lane's current burst left.
  [[nodiscard]] virtual std::optional<Time> first_sent_at(const Lane& lane) const noexcept = 0;
  /// Returns the totals of the lane so far.
  [[nodiscard]] virtual FlowReport report(const Lane& lane) const = 0;
  /// Adds the counts of the last bursts to the records. Call it before the records are read.
  virtual void note_last() noexcept = 0;
  /// Returns the counts of all queue pairs; zero where there are none.
  [[nodiscard]] virtual RoceCounters roce() const { return {}; }
};

/// The parameters of an exchange. Lists are [worker][target], with `targets` for each worker. Lanes
/// whose pushes have no parts do not exist; they are the last ones of their worker.
struct ExchangeSetup {
  std::uint16_t job = 0;
  std::uint64_t seed = 1;
  TcpConfig tcp{};              ///< controller, ECN, priority and reuse; mss_bytes as for the hosts
  std::uint32_t mtu_bytes = 0;  ///< that all hosts support
  std::uint16_t port = 0;       ///< on which the targets listen
  std::uint32_t targets = 0;    ///< the most that a worker has
  std::vector<Host*> workers{};                  ///< [workers]
  std::vector<Host*> ends{};                     ///< hosts of the targets; null: no such lane
  std::vector<std::vector<BurstPart>> pushes{};  ///< the parts of each lane's bursts
  std::vector<std::vector<BurstPart>> pulls{};   ///< the same; no parts: no pulls
  bool parts_told = false;                       ///< parts are handed over and reported one by one
  bool pushes_acknowledged = false;              ///< the listener wants on_acknowledged()
  bool pulls_acknowledged = false;
  std::uint32_t first_owner = 0;  ///< owner id of the first worker, for attribution; 0: off
  const GradientMagnitudes* magnitudes = nullptr;  ///< null: nothing is learnt
  std::uint32_t queue_pairs = 1;  ///< over RoCEv2, of a worker and one of its targets
  std::vector<std::uint8_t>
      nic_classes{};  ///< [targets] of pulls at the targets' NICs; empty: none

  /// Returns the index in lists that are [worker][target].
  [[nodiscard]] std::size_t index_of(std::uint32_t worker, std::uint32_t target) const noexcept {
    return std::size_t{worker} * targets + target;
  }
  /// Returns the host of a worker's target. @pre the lane exists
  [[nodiscard]] Host& end(std::uint32_t worker, std::uint32_t target) const noexcept {
    return *ends[index_of(worker, target)];
  }
  /// Returns the number of lanes that a worker has.
  [[nodiscard]] std::uint32_t targets_of(std::uint32_t worker) const noexcept {
    std::uint32_t target = 0;
    while (target < targets && !pushes[index_of(worker, target)].empty()) ++target;
    return target;
  }
  /// Returns the parts of the lane's bursts.
  [[nodiscard]] const std::vector<BurstPart>& parts(const Lane& lane) const noexcept {
    const auto& lists = lane.direction == BurstDirection::kPush ? pushes : pulls;
    return lists[index_of(lane.worker, lane.target)];
  }
  /// Returns true if the listener wants on_acknowledged() for lanes of this direction.
  [[nodiscard]] bool acknowledged(BurstDirection direction) const noexcept {
    return direction == BurstDirection::kPush ? pushes_acknowledged : pulls_acknowledged;
  }
  [[nodiscard]] std::uint32_t owner(std::uint32_t worker) const noexcept {
    return first_owner == 0 ? 0 : first_owner + worker;
  }
  [[nodiscard]] std::uint8_t nic_class(std::uint32_t target) const noexcept {
    return nic_classes.empty() ? std::uint8_t{0} : nic_classes[target];
  }
};

[[nodiscard]] inline std::uint64_t bytes_of(std::span<const BurstPart> parts) noexcept {
  std::uint64_t bytes = 0;
  for (const BurstPart& part : parts) bytes += part.bytes;
  return bytes;
}

}  // namespace outrider::tg
