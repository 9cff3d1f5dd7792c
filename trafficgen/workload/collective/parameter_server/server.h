#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "trafficgen/hosts/host.h"
#include "trafficgen/workload/collective/parameter_server/context.h"

namespace outrider::tg {

/// One parameter server: gathers its shard of the gradients, aggregates, sends its
/// shard of the parameters to each worker when the job's rule lets it go on. By tensor:
/// it does so with each piece by itself, when all workers' gradients of it are there.
class Server final : private TimerClient {
 public:
  /// @param context,host must outlive it
  Server(PsContext& context, std::uint32_t index, Host& host);
  ~Server() = default;

  /// R2SP: the worker, whose push is here, may have its answer.
  void admit(std::uint32_t worker, Time now) noexcept;
  /// A worker's gradients of a piece are there. @pre by_tensor
  void on_piece(std::uint32_t piece, Time now) noexcept;
  /// The worker's push is here.
  void on_pushed(const Lane& push, const BurstArrival& arrival, Time now) noexcept;
  /// See Exchange::Listener.
  void on_acknowledged(std::uint32_t worker, std::uint64_t bytes, Time now) noexcept;

  [[nodiscard]] bool needs_acknowledgments() const noexcept {
    return peers_.front().answers != nullptr && peers_.front().answers->needs_acknowledgments();
  }

 private:
  /// One worker, as this server sees it.
  struct Peer {
    std::uint32_t worker = 0;
    std::uint32_t iteration = 0;            ///< of the current push
    std::unique_ptr<SendPolicy> answers{};  ///< by tensor
  };

  void on_timer(std::uint32_t tag, Time now) noexcept override;
  void answer(Peer& peer, Time now) noexcept;
  void begin_pull(const Peer& peer, std::uint32_t iteration, Time now) noexcept;
  void answer_piece(std::uint32_t piece, Time now) noexcept;
  void hand_out(Peer& peer, Time now) noexcept;
  /// Of the parameters to that worker.
  [[nodiscard]] Lane pull_of(const Peer& peer) const noexcept {
    return {peer.worker, index_, BurstDirection::kPull};
  }

  PsContext& context_;
  std::uint32_t index_;
  Host& host_;
  std::vector<Peer> peers_;  ///< [workers]
  StalenessGate gate_;       ///< of the pushes of this shard
  // if it is by_tensor
  std::vector<std::uint32_t> arrived_;  ///< [pieces]: workers whose gradients are there
  std::uint32_t own_pieces_ = 0;        ///< of the shard
  std::uint32_t answered_pieces_ = 0;   ///< of the iteration
  std::uint32_t answered_ = 0;          ///< iterations
};

}  // namespace outrider::tg
