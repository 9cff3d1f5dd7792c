#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "common/core/burst_identity.h"
#include "trafficgen/roce/queue_pair.h"
#include "trafficgen/workload/exchange/exchange.h"

namespace outrider::tg {

class JobRecords;

/// Carries bursts as RDMA WRITEs or SENDs of RoCEv2: reliable connections between each worker and
/// target, with pushes one way and pulls the other. What is handed over while nothing of it has
/// left is one message; the last one of a burst has an immediate, the iteration. Parts arrive in
/// order.
///
/// With several connections (ExchangeSetup::queue_pairs) what is handed over is cut into as many
/// messages of whole packets, which take them in turn. A burst begins with the first connection,
/// which next_place() and flow() name. A part has arrived when all of its messages have, and may be
/// before one that was handed over earlier.
///
/// There is no connection management: both ends are made at construction, and connected() is always
/// true. A peer that stays silent for RoceConfig::retry_limit time-outs ends the job
/// (on_gave_up()).
class RoceExchange final : public Exchange {
 public:
  /// Makes the queue pairs. @param records,listener must outlive the exchange
  RoceExchange(const ExchangeSetup& setup, const RoceConfig& roce, JobRecords& records,
               Listener& listener);
  ~RoceExchange() override;
  RoceExchange(const RoceExchange&) = delete;
  RoceExchange& operator=(const RoceExchange&) = delete;

  void start() override {}
  void open(std::uint32_t, Time) noexcept override {}
  void begin_iteration(std::uint32_t, std::uint32_t) noexcept override {}
  void end_iteration(std::uint32_t) noexcept override {}
  [[nodiscard]] BurstPlace next_place(const Lane& lane) noexcept override;
  [[nodiscard]] FlowKey flow(const Lane& lane) const noexcept override;
  void begin_push(const BurstLedger& burst, BurstTime idle, Time now) noexcept override;
  void begin_pull(const BurstLedger& burst, std::uint32_t target, Time now) noexcept override;
  void hand_over(const Lane& lane, std::uint32_t part, std::uint64_t bytes,
                 Time now) noexcept override;
  void hand_over_all(const Lane& lane, Time now) noexcept override;
  void end(const Lane&, Time) noexcept override {}
  [[nodiscard]] bool idle(const Lane& lane) const noexcept override;
  [[nodiscard]] bool connected(const Lane&) const noexcept override { return true; }
  [[nodiscard]] std::optional<Time> first_sent_at(const Lane& lane) const noexcept override;
  [[nodiscard]] FlowReport report(const Lane& lane) const override;
  void note_last() noexcept override;
  [[nodiscard]] RoceCounters roce() const override;

 private:
  struct Way;
  struct End;
  struct Pair;

  [[nodiscard]] End& sender(const Lane& lane) noexcept;
  [[nodiscard]] const End& sender(const Lane& lane) const noexcept;
  void make_pair(std::uint32_t worker, std::uint32_t target);
  [[nodiscard]] std::uint64_t message_bytes(std::uint64_t bytes, std::size_t ways) const noexcept;
  void begin(End& end, const BurstIdentity& burst, Time now) noexcept;
  void note(End& end) noexcept;

  ExchangeSetup setup_;
  RoceConfig config_;
  JobRecords& records_;
  Listener& listener_;
  std::uint32_t path_mtu_;
  std::vector<std::uint32_t> targets_;        ///< [workers]: number of its lanes
  std::vector<std::unique_ptr<Pair>> pairs_;  ///< [worker][target]; null: no such lane
};

}  // namespace outrider::tg
