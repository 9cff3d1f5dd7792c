#pragma once

#include <cstdint>
#include <vector>

#include "trafficgen/hosts/host.h"
#include "trafficgen/workload/job.h"

namespace outrider {

/// One parameter server: gathers its shard of the gradients, aggregates, sends its
/// shard of the parameters to each worker when the job's rule lets it go on.
class Server final : private TimerClient, private Acceptor {
 public:
  Server(Job& job, std::uint32_t index, Host& host);
  ~Server();

  void start();
  /// Sender of the pull to `worker`; nullptr between connections.
  [[nodiscard]] const TcpConnection* connection(std::uint32_t worker) const noexcept;

 private:
  struct Peer;

  Offer accept(const FlowKey& flow) noexcept override;
  void on_accepted(TcpConnection& connection) noexcept override;
  void on_timer(std::uint32_t tag, Time now) noexcept override;
  void pushed(Peer& peer, Time now) noexcept;
  void answer(Peer& peer, Time now) noexcept;
  Peer* peer_of(std::uint32_t address) noexcept;

  Job& job_;
  std::uint32_t index_;
  Host& host_;
  std::vector<Peer> peers_;  ///< [workers]
  StalenessGate gate_;       ///< of the pushes of this shard
};

}  // namespace outrider
