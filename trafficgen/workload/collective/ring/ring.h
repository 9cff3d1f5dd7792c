#pragma once

#include <cstdint>
#include <vector>

#include "trafficgen/workload/collective/collective.h"
#include "trafficgen/workload/collective/ring/ring_schedule.h"

namespace outrider::tg {

/// The ring all-reduce. Every worker pushes chunks to its right neighbour, which passes them on.
/// Each step is a part of the worker's push; steps may arrive in any order. There are no pulls.
class Ring final : public CollectiveOperation {
 public:
  Ring(const CollectiveSetup& setup, JobRecords& records, Owner& owner);

  void plan(ExchangeSetup& setup) const override;
  void attach(Exchange& exchange) noexcept override { exchange_ = &exchange; }
  [[nodiscard]] std::uint64_t push_bytes(std::uint32_t worker,
                                         std::uint32_t) const noexcept override {
    return schedule_.sent_bytes(worker);
  }
  [[nodiscard]] bool answers() const noexcept override { return false; }
  void begin(std::uint32_t, std::uint32_t, Time) noexcept override {}
  void on_ready(std::uint32_t, const GradientPiece&, bool, Time) noexcept override {}
  void on_released(std::uint32_t worker, Time now) noexcept override;
  void more(std::uint32_t, Time) noexcept override {}
  void admit(std::uint32_t, Time) noexcept override {}
  void add_starts(StartCounts&, std::uint64_t&) const override {}

  void on_part(const Lane& lane, std::uint32_t part, Time now) noexcept override;
  void on_burst(const Lane& lane, const BurstArrival& arrival, Time now) noexcept override;
  void on_acknowledged(const Lane&, std::uint64_t, Time) noexcept override {}
  void on_idle(const Lane& lane, Time now) noexcept override;
  void on_gave_up(Time now) noexcept override { owner_.on_lost(now); }

 private:
  /// A worker's place in the ring.
  struct Member {
    std::uint32_t iteration = 0;
    RingProgress progress;
    bool waits_for_last_burst = false;  ///< released, but the last burst is still in flight
  };

  void begin_burst(std::uint32_t worker, Time now) noexcept;
  void send(std::uint32_t worker, std::uint32_t step, Time now) noexcept;

  RingSchedule schedule_;
  std::vector<Host*> workers_;
  JobRecords& records_;
  Owner& owner_;
  Exchange* exchange_ = nullptr;
  std::vector<Member> members_;  ///< [workers]
};

}  // namespace outrider::tg
