#pragma once

#include <cstdint>
#include <vector>

#include "trafficgen/hosts/host.h"
#include "trafficgen/workload/job.h"

namespace outrider {

/// One parameter server: gathers its shard of the gradients, aggregates, sends its
/// shard of the parameters to each worker when the job's rule lets it go on. By tensor:
/// it does so with each piece by itself, when all workers' gradients of it are there.
class Server final : private TimerClient, private Acceptor {
 public:
  Server(Job& job, std::uint32_t index, Host& host);
  ~Server();

  void start();
  /// R2SP: the worker, whose push is here, may have its answer.
  void admit(std::uint32_t worker, Time now) noexcept;
  /// Over the bounded-loss transport: the worker's gradients of a piece are there.
  /// @param complete and all others of the shard
  /// @param missing what the shard will never have, with `complete` alone
  void on_pushed(std::uint32_t worker, std::uint32_t piece, bool complete,
                 std::span<const ByteRange> missing, Time now) noexcept;
  /// The worker has `bytes` more of what was handed over for it; see Worker.
  void on_acknowledged(std::uint32_t worker, std::uint64_t bytes, Time now) noexcept;
  /// Sender of the pull to `worker`; nullptr between connections.
  [[nodiscard]] const TcpConnection* connection(std::uint32_t worker) const noexcept;

 private:
  struct Peer;

  Offer accept(const FlowKey& flow) noexcept override;
  void on_accepted(TcpConnection& connection) noexcept override;
  void on_timer(std::uint32_t tag, Time now) noexcept override;
  void pushed(Peer& peer, Time now) noexcept;
  void on_shard_pushed(Peer& peer, Time now, std::span<const ByteRange> missing = {}) noexcept;
  void on_piece(std::uint32_t piece, Time now) noexcept;
  void answer(Peer& peer, Time now) noexcept;
  void begin_pull(Peer& peer, std::uint32_t iteration, Time now) noexcept;
  void take_pieces(Peer& peer, Time now) noexcept;
  void answer_piece(std::uint32_t piece, Time now) noexcept;
  void hand_out(Peer& peer, Time now) noexcept;
  Peer* peer_of(std::uint32_t address) noexcept;

  Job& job_;
  std::uint32_t index_;
  Host& host_;
  std::vector<Peer> peers_;  ///< [workers]
  StalenessGate gate_;       ///< of the pushes of this shard
  // if the job is by_tensor()
  std::vector<std::uint32_t> arrived_;  ///< [pieces]: workers whose gradients are there
  std::uint32_t own_pieces_ = 0;        ///< of the shard
  std::uint32_t answered_pieces_ = 0;   ///< of the iteration
  std::uint32_t answered_ = 0;          ///< iterations
};

}  // namespace outrider
