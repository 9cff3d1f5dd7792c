#pragma once

#include <cstdint>

#include "trafficgen/hosts/host.h"
#include "trafficgen/workload/announce/burst_announcer.h"
#include "trafficgen/workload/collective/parameter_server/context.h"

namespace outrider::tg {

/// Announces what one server sends to one worker. The START leaves as soon as the server knows that
/// it will answer, the time of aggregation before the parameters are there; the rest of the lead
/// holds them back. No paper announces pulls.
///
/// The server calls begin(), on_due() and on_released() once each for every pull, in that order.
/// A worker that is not connected is told nothing.
class PullAnnouncer final : private BurstAnnouncer::Client {
 public:
  class Client {
   public:
    /// holds() may have become false.
    virtual void on_pull_hold_ended(std::uint32_t worker, Time now) noexcept = 0;

   protected:
    ~Client() = default;
  };

  /// @param context,server,client must outlive the announcer. @pre the setup has pull_starts
  PullAnnouncer(PsContext& context, const Lane& pull, Host& server, Client& client);
  ~PullAnnouncer() = default;

  /// @param due_at when the parameters will be there
  void begin(std::uint32_t iteration, Time due_at, Time now) noexcept {
    announcer_.begin(iteration, due_at, now);
  }
  /// The parameters are there.
  void on_due(Time now) noexcept { announcer_.on_ready(now); }
  [[nodiscard]] bool holds(Time now) const noexcept { return announcer_.holds(now); }
  void on_released() noexcept { announcer_.on_released(); }
  [[nodiscard]] const BurstAnnouncer& announcer() const noexcept { return announcer_; }

 private:
  // BurstAnnouncer::Client
  BurstPlace next_place(std::uint32_t) noexcept override {
    return context_.exchange->next_place(pull_);
  }
  [[nodiscard]] FlowKey flow(std::uint32_t) const noexcept override {
    return context_.exchange->flow(pull_);
  }
  BurstRecord& burst(std::uint32_t iteration) noexcept override;
  void on_hold_ended(Time now) noexcept override { client_.on_pull_hold_ended(pull_.worker, now); }

  PsContext& context_;
  Lane pull_;
  Client& client_;
  BurstAnnouncer announcer_;
};

}  // namespace outrider::tg
