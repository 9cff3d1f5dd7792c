#pragma once

#include <cstdint>
#include <deque>

#include "common/core/flow_table.h"
#include "trafficgen/channel/channel.h"
#include "trafficgen/hosts/host.h"

namespace outrider::tg {

/// Channels over TCP. The far host takes a connection only from a channel that is opening it. Its
/// ports take turns.
class TcpChannels final : public Channels, private Acceptor {
 public:
  struct Setup {
    Host* from = nullptr;
    Host* to = nullptr;
    std::uint16_t first_port = 0;  ///< of the far host, used by these channels only
    std::uint16_t ports = 1;       ///< > 0
    TcpConfig tcp{};
  };
  explicit TcpChannels(const Setup& setup);
  ~TcpChannels() override;

  Channel& make(Channel::User& user) override;
  void listen() override;

 private:
  class TcpChannel;

  Offer accept(const FlowKey& flow) noexcept override;
  void on_accepted(TcpConnection& connection) noexcept override;

  Setup setup_;
  std::deque<TcpChannel> channels_;  ///< never moved
  FlowTable<TcpChannel*> expected_;  ///< that are opening, by their flow from the near host
};

}  // namespace outrider::tg
