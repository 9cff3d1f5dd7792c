#pragma once

#include <cstdint>
#include <vector>

#include "trafficgen/hosts/host.h"
#include "trafficgen/workload/job.h"

namespace outrider {

/// One parameter server: gathers its shard of the gradients from all workers,
/// aggregates, sends its shard of the parameters to all workers.
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
  void broadcast(Time now) noexcept;
  Peer* peer_of(std::uint32_t address) noexcept;

  Job& job_;
  std::uint32_t index_;
  Host& host_;
  std::vector<Peer> peers_;  ///< [workers]
  std::uint32_t iteration_ = 0;
  std::uint32_t pushes_missing_ = 0;
};

}  // namespace outrider
