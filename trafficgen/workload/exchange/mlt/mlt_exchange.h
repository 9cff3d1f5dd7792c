#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "trafficgen/workload/exchange/mlt/mlt_end.h"

namespace outrider::tg {

/// Carries bursts over the bounded-loss transport: a flow of datagrams between each worker and
/// target, with pushes one way and pulls the other. A part of a burst is a tensor of the flow. It
/// is complete when the share that its tolerance requires has arrived. Parts may arrive in any
/// order, and on_part() reports them even without ExchangeSetup::parts_told.
///
/// There is no handshake: both ends are made at construction, and connected() is always true. A
/// peer that stays silent for MltConfig::probe_limit probes ends the job (on_gave_up()).
class MltExchange final : public Exchange {
 public:
  /// Makes the endpoints. @param records,listener must outlive the exchange
  MltExchange(const ExchangeSetup& setup, const MltConfig& mlt, JobRecords& records,
              Listener& listener);
  ~MltExchange() override;
  MltExchange(const MltExchange&) = delete;
  MltExchange& operator=(const MltExchange&) = delete;

  void start() override {}
  void open(std::uint32_t, Time) noexcept override {}
  void begin_iteration(std::uint32_t worker, std::uint32_t iteration) noexcept override;
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

 private:
  struct Pair;

  /// Returns the end that sends on the lane.
  [[nodiscard]] MltEnd& sender(const Lane& lane) noexcept;
  [[nodiscard]] const MltEnd& sender(const Lane& lane) const noexcept;
  void make_pair(std::uint32_t worker, std::uint32_t target, std::uint32_t layers);

  MltContext context_;
  std::vector<std::uint32_t> targets_;        ///< [workers]: number of its lanes
  std::vector<std::unique_ptr<Pair>> pairs_;  ///< [worker][target]; null: no such lane
};

}  // namespace outrider::tg
