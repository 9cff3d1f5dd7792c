#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "trafficgen/workload/exchange/exchange_context.h"

namespace outrider::tg {

class TcpPair;

/// Carries bursts over TCP, with one connection between a worker and a target for both pushes and
/// pulls. A connection is kept for the whole job or opened for each push (ConnectionReuse). Bytes
/// arrive in order, and none is missing.
///
/// A broken connection is opened again with the worker's next push; the data in flight are lost. So
/// is one into which a stranger injects bytes, as soon as more have arrived than were handed over:
/// it is reset and counted. A peer that does not open its connection again is not connected().
class TcpExchange final : public Exchange {
 public:
  /// @param records,listener must outlive the exchange
  TcpExchange(const ExchangeSetup& setup, JobRecords& records, Listener& listener);
  ~TcpExchange() override;
  TcpExchange(const TcpExchange&) = delete;
  TcpExchange& operator=(const TcpExchange&) = delete;

  void start() override;
  void open(std::uint32_t worker, Time now) noexcept override;
  void begin_iteration(std::uint32_t worker, std::uint32_t iteration) noexcept override;
  void end_iteration(std::uint32_t worker) noexcept override;
  [[nodiscard]] BurstPlace next_place(const Lane& lane) noexcept override;
  [[nodiscard]] FlowKey flow(const Lane& lane) const noexcept override;
  void begin_push(const BurstLedger& burst, BurstTime idle, Time now) noexcept override;
  void begin_pull(const BurstLedger& burst, std::uint32_t target, Time now) noexcept override;
  void hand_over(const Lane& lane, std::uint32_t part, std::uint64_t bytes,
                 Time now) noexcept override;
  void hand_over_all(const Lane& lane, Time now) noexcept override;
  void end(const Lane& lane, Time now) noexcept override;
  [[nodiscard]] bool idle(const Lane&) const noexcept override { return true; }
  [[nodiscard]] bool connected(const Lane& lane) const noexcept override;
  [[nodiscard]] std::optional<Time> first_sent_at(const Lane& lane) const noexcept override;
  [[nodiscard]] FlowReport report(const Lane& lane) const override;
  void note_last() noexcept override {}

 private:
  struct Gate;

  [[nodiscard]] TcpPair& pair(std::uint32_t worker, std::uint32_t target) noexcept {
    return *pairs_[context_.setup.index_of(worker, target)];
  }
  [[nodiscard]] const TcpPair& pair(const Lane& lane) const noexcept {
    return *pairs_[context_.setup.index_of(lane.worker, lane.target)];
  }
  void make_gates();

  ExchangeContext context_;
  std::vector<std::uint32_t> targets_;           ///< [workers]: number of its lanes
  std::vector<std::unique_ptr<TcpPair>> pairs_;  ///< [worker][target]; null: no such lane
  std::vector<std::unique_ptr<Gate>> gates_;     ///< one for each listening host
};

}  // namespace outrider::tg
