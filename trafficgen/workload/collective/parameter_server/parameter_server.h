#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "trafficgen/workload/collective/parameter_server/pusher.h"
#include "trafficgen/workload/collective/parameter_server/server.h"

namespace outrider::tg {

/// The parameter-server collective. Every worker pushes a shard of its gradients to each server,
/// and the server answers with its shard of the parameters.
class ParameterServer final : public CollectiveOperation {
 public:
  ParameterServer(const CollectiveSetup& setup, JobRecords& records, Owner& owner);

  void plan(ExchangeSetup& setup) const override;
  void attach(Exchange& exchange) noexcept override { context_.exchange = &exchange; }
  [[nodiscard]] std::uint64_t push_bytes(std::uint32_t,
                                         std::uint32_t target) const noexcept override {
    return context_.setup.shard_bytes[target];
  }
  [[nodiscard]] bool answers() const noexcept override { return context_.setup.pull; }
  void begin(std::uint32_t worker, std::uint32_t iteration, Time now) noexcept override {
    pushers_[worker]->begin(iteration, now);
  }
  void on_ready(std::uint32_t worker, const GradientPiece& piece, bool last,
                Time now) noexcept override {
    pushers_[worker]->on_ready(piece, last, now);
  }
  void on_released(std::uint32_t worker, Time now) noexcept override {
    pushers_[worker]->on_released(now);
  }
  void more(std::uint32_t worker, Time now) noexcept override { pushers_[worker]->hand_out(now); }
  void admit(std::uint32_t worker, Time now) noexcept override;
  void add_starts(StartCounts& starts, std::uint64_t& ack_timeouts) const override;

  void on_part(const Lane& lane, std::uint32_t part, Time now) noexcept override;
  void on_burst(const Lane& lane, const BurstArrival& arrival, Time now) noexcept override;
  void on_acknowledged(const Lane& lane, std::uint64_t bytes, Time now) noexcept override;
  void on_idle(const Lane&, Time) noexcept override {}
  void on_gave_up(Time now) noexcept override { context_.owner.on_lost(now); }

 private:
  PsContext context_;
  std::vector<std::unique_ptr<Pusher>> pushers_;  ///< [workers]
  std::vector<std::unique_ptr<Server>> servers_;
};

}  // namespace outrider::tg
