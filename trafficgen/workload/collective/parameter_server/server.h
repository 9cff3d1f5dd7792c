#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "trafficgen/core/fifo.h"
#include "trafficgen/hosts/host.h"
#include "trafficgen/workload/collective/parameter_server/context.h"
#include "trafficgen/workload/collective/parameter_server/pull_announcer.h"

namespace outrider::tg {

/// One parameter server. It gathers its shard of the gradients, aggregates it, and sends its shard
/// of the parameters to each worker when the job's synchronisation lets the worker go on. By
/// tensor, it answers each piece separately as soon as all workers' gradients of the piece arrived.
/// Its receiving thread then takes MessageConfig::server_time for each message, one after the
/// other in the order of arrival. The time is taken with the first part of a message to arrive.
///
/// If pulls are announced, parameters that are due wait as long as their announcer holds them.
class Server final : private TimerClient, private PullAnnouncer::Client {
 public:
  /// @param context,host must outlive the server
  Server(PsContext& context, std::uint32_t index, Host& host);
  ~Server() = default;

  /// R2SP: the worker, whose push has arrived, may have its answer.
  void admit(std::uint32_t worker, Time now) noexcept;
  /// A worker's gradients of a piece have arrived. @pre by_tensor
  void on_piece(std::uint32_t worker, std::uint32_t piece, Time now) noexcept;
  /// The worker's push has arrived.
  void on_pushed(const Lane& push, const BurstArrival& arrival, Time now) noexcept;
  /// See Exchange::Listener.
  void on_acknowledged(std::uint32_t worker, std::uint64_t bytes, Time now) noexcept;
  /// See CollectiveOperation.
  void add_starts(StartCounts& starts, std::uint64_t& ack_timeouts) const;

  [[nodiscard]] bool needs_acknowledgments() const noexcept {
    return peers_.front().answers != nullptr && peers_.front().answers->needs_acknowledgments();
  }

 private:
  /// The server's view of one worker.
  struct Peer {
    std::uint32_t worker = 0;
    std::uint32_t iteration = 0;                 ///< of the current push
    std::unique_ptr<SendPolicy> answers{};       ///< used if by_tensor
    std::unique_ptr<PullAnnouncer> announcer{};  ///< if pulls are announced
    std::uint32_t answers_iteration = 0;         ///< of the current pull
    bool held = false;                           ///< the pull is due and has not left yet
    Time due_at{};                               ///< of the current pull
  };

  static constexpr std::uint32_t kInbox = ~0U;  ///< tag of the receiving thread's timer

  /// A piece that has arrived, and when the thread has worked on its message.
  struct Received {
    std::uint32_t piece = 0;
    Time done{};
  };

  void on_timer(std::uint32_t tag, Time now) noexcept override;
  void set_inbox_timer() noexcept;
  void empty_inbox(Time now) noexcept;
  void gather(std::uint32_t piece, Time now) noexcept;
  void announce(Peer& peer, std::uint32_t iteration, Time now) noexcept;
  void on_pull_hold_ended(std::uint32_t worker, Time now) noexcept override;
  void on_due(Peer& peer, std::uint32_t iteration, Time now) noexcept;
  void release_unless_held(Peer& peer, Time now) noexcept;
  void begin_pull(const Peer& peer, Time now) noexcept;
  void answer_piece(std::uint32_t piece, Time now) noexcept;
  void hand_out(Peer& peer, Time now) noexcept;
  /// Returns the lane of the parameters to that worker.
  [[nodiscard]] Lane pull_of(const Peer& peer) const noexcept {
    return {peer.worker, index_, BurstDirection::kPull};
  }

  PsContext& context_;
  std::uint32_t index_;
  Host& host_;
  std::vector<Peer> peers_;  ///< [workers]
  StalenessGate gate_;       ///< for the pushes of this shard
  // Used if by_tensor:
  std::vector<std::uint32_t> arrived_;  ///< [pieces]: workers whose gradients have arrived
  Fifo<Received> inbox_;                ///< at most workers x pieces of this shard
  Time thread_free_at_{};               ///< of the receiving thread
  std::uint32_t own_pieces_;            ///< pieces of this shard
  std::uint32_t gathered_pieces_ = 0;   ///< of the current iteration, from all workers
  std::uint32_t answered_pieces_ = 0;   ///< pieces of the current iteration
  std::uint32_t answered_ = 0;          ///< iterations answered
};

}  // namespace outrider::tg
