#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "common/core/burst_identity.h"
#include "common/core/burst_ledger.h"
#include "common/core/byte_range.h"
#include "common/core/clock.h"
#include "common/core/flow_key.h"
#include "trafficgen/measure/flow_totals.h"
#include "trafficgen/transport/base/tcp_config.h"
#include "trafficgen/workload/exchange/lane.h"

namespace outrider::tg {

class Host;

/// Where a burst begins in the flow that carries it.
struct BurstPlace {
  FlowKey flow{};              ///< as the sender sends it
  std::uint32_t sequence = 0;  ///< of its first byte
};

/// A part of the bursts of a lane, the same one in every iteration.
struct BurstPart {
  std::uint64_t bytes = 0;               ///< > 0
  std::optional<std::uint32_t> layer{};  ///< in forward order; nothing: of the whole model
  bool parameters = false;               ///< not gradients: sums or answers
};

/// A burst as it has come.
struct BurstArrival {
  std::uint64_t bytes = 0;               ///< that are there
  std::span<const ByteRange> missing{};  ///< that will never be; valid within the call
};

/// How the bytes of a job's bursts get from one host to another.
///
/// A job has a Lane for pushes and one for pulls between each worker and each of its targets.
/// What a burst of a lane consists of is fixed: ExchangeSetup::pushes and ::pulls. The owner
/// says what leaves and when; the exchange drives the hosts and tells the Listener what has
/// come. Who sends what to whom, and why, is not its business.
///
/// Calls, in this order: start() once; open() once for each worker; then for each iteration of
/// a worker begin_iteration(), begin_push(), hand_over() of each part of each target once,
/// end_push(), end_iteration(). begin_pull() and hand_over() of the pull's parts come between
/// that worker's begin_push() and its end_iteration(). One burst of a lane at a time: the next
/// one begins when idle() says so.
///
/// Promises:
///  * on_burst() comes once for a burst that was handed over whole, and after it nothing of
///    that burst. It says how many bytes are there; they and `missing` are the burst. Never
///    more bytes than were handed over, and none before they were.
///  * With ExchangeSetup::parts_told, on_part() comes once for each part, all before
///    on_burst(). An exchange that keeps order tells them in the order of hand_over().
///  * With acknowledgments asked for, on_acknowledged() tells in all as many bytes as were
///    handed over, at the latest when the lane's next burst begins, and never too many.
///  * A burst whose peer is gone is never told as complete. What is handed over for it is
///    lost; calls stay lawful.
///
/// Owns its flows and connections' ends, borrows hosts and records, which must outlive it. Not
/// thread-safe: one lcore owns the job. Bounds: state is a multiple of lanes and parts, made at
/// construction; nothing allocates afterwards but Host::open().
class Exchange {
 public:
  /// Hears what has come. Calls come from within the hosts' events and may call the exchange.
  class Listener {
   public:
    /// All that will come of a part of the lane's current burst is there.
    virtual void on_part(const Lane& lane, std::uint32_t part, Time now) noexcept = 0;
    virtual void on_burst(const Lane& lane, const BurstArrival& arrival, Time now) noexcept = 0;
    /// The receiver has `bytes` more of what was handed over, in order; over an exchange that
    /// tolerates loss, as much of it as it needs.
    virtual void on_acknowledged(const Lane& lane, std::uint64_t bytes, Time now) noexcept = 0;
    /// idle() has become true.
    virtual void on_idle(const Lane& lane, Time now) noexcept = 0;
    /// A burst will never be delivered: its receiver has fallen silent.
    virtual void on_gave_up(Time now) noexcept = 0;

   protected:
    ~Listener() = default;
  };

  virtual ~Exchange() = default;

  /// Before the job begins: listens where it has to.
  virtual void start() = 0;
  /// The job begins at this worker: opens what is kept open.
  virtual void open(std::uint32_t worker, Time now) noexcept = 0;
  virtual void begin_iteration(std::uint32_t worker, std::uint32_t iteration) noexcept = 0;
  /// The worker has all that it waited for.
  virtual void end_iteration(std::uint32_t worker) noexcept = 0;

  /// Where the worker's next push to the target will begin; chooses a flow if there is none.
  [[nodiscard]] virtual BurstPlace next_place(std::uint32_t worker,
                                              std::uint32_t target) noexcept = 0;
  /// The flow of the worker's pushes to the target; FlowKey{} if none is chosen.
  [[nodiscard]] virtual FlowKey flow(std::uint32_t worker, std::uint32_t target) const noexcept = 0;

  /// A push begins on all lanes of the worker that `burst` names.
  /// @param burst its identity, and where its time went until now
  /// @param idle where time goes in which nothing of it is handed over
  virtual void begin_push(const BurstLedger& burst, BurstTime idle, Time now) noexcept = 0;
  /// A pull begins on one lane.
  virtual void begin_pull(const BurstLedger& burst, std::uint32_t target, Time now) noexcept = 0;
  /// @param part of the lane's burst; if parts are not told, any
  /// @param bytes of it; if parts are not told, of the burst
  virtual void hand_over(const Lane& lane, std::uint32_t part, std::uint64_t bytes,
                         Time now) noexcept = 0;
  /// All parts of the lane's burst, in order.
  virtual void hand_over_all(const Lane& lane, Time now) noexcept = 0;
  /// Nothing more will be handed over for the lane's burst. Calls may be repeated.
  virtual void end(const Lane& lane, Time now) noexcept = 0;

  /// May the lane's next burst begin?
  [[nodiscard]] virtual bool idle(const Lane& lane) const noexcept = 0;
  /// Is there anybody to send to? Of lanes whose burst has begun.
  [[nodiscard]] virtual bool connected(const Lane& lane) const noexcept = 0;
  /// When the first packet of the lane's current burst left.
  [[nodiscard]] virtual std::optional<Time> first_sent_at(const Lane& lane) const noexcept = 0;
  /// What the lane did so far.
  [[nodiscard]] virtual FlowReport report(const Lane& lane) const = 0;
  /// Adds to the records what the last bursts have done; before they are read.
  virtual void note_last() noexcept = 0;
};

/// What an exchange is made of. Lists are [worker][target], `targets` of each worker.
struct ExchangeSetup {
  std::uint16_t job = 0;
  std::uint64_t seed = 1;
  TcpConfig tcp{};              ///< controller, ECN and reuse; with mss_bytes for the hosts
  std::uint32_t mtu_bytes = 0;  ///< that all hosts can take
  std::uint16_t port = 0;       ///< of the targets
  std::uint32_t targets = 0;
  std::vector<Host*> workers{};                  ///< [workers]
  std::vector<Host*> ends{};                     ///< hosts of the targets
  std::vector<std::vector<BurstPart>> pushes{};  ///< the parts of each lane's bursts
  std::vector<std::vector<BurstPart>> pulls{};   ///< the same; no parts: no pulls
  bool parts_told = false;                       ///< each part is handed over and told by itself
  bool pushes_acknowledged = false;              ///< the listener wants on_acknowledged()
  bool pulls_acknowledged = false;
  std::uint32_t first_owner = 0;  ///< of the workers, for attribution; 0: off
  std::vector<std::uint8_t>
      nic_classes{};  ///< [targets] of pulls at the targets' NICs; empty: none

  /// In lists that are [worker][target].
  [[nodiscard]] std::size_t index_of(std::uint32_t worker, std::uint32_t target) const noexcept {
    return std::size_t{worker} * targets + target;
  }
  /// Of the lane's bursts.
  [[nodiscard]] const std::vector<BurstPart>& parts(const Lane& lane) const noexcept {
    const auto& lists = lane.direction == BurstDirection::kPush ? pushes : pulls;
    return lists[index_of(lane.worker, lane.target)];
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
