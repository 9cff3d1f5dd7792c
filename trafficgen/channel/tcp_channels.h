#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "common/core/flow_table.h"
#include "trafficgen/channel/channel.h"

namespace outrider::tg {

/// Channels over TCP. A far host takes a connection only from a channel that is opening it. Its
/// ports take turns.
///
/// A channel that is lent has a connection for each flow, which closes after the last byte; the far
/// end closes when all has come, or when the near end has given up. The channel is free when both
/// ends have closed. Any one serves any two hosts.
class TcpChannels final : public Channels, private Acceptor {
 public:
  struct Setup {
    ChannelHosts hosts;
    std::uint16_t first_port = 0;  ///< of the far hosts, used by these channels only
    std::uint16_t ports = 1;       ///< > 0
    TcpConfig tcp{};
  };
  explicit TcpChannels(Setup setup);
  ~TcpChannels() override;

  Channel& make(Channel::User& user) override;
  void listen() override;
  void stock(std::uint32_t channels) override;
  [[nodiscard]] Channel* lend(Channel::User& user, HostPair pair) override;
  void give_back(Channel& channel) noexcept override;
  [[nodiscard]] std::unique_ptr<IdealTimes> ideal_times() const override;

 private:
  class TcpChannel;

  [[nodiscard]] TcpChannel& add();
  [[nodiscard]] std::optional<FlowKey> free_flow(HostPair pair, std::uint16_t port,
                                                 Time now) const noexcept;
  Offer accept(const FlowKey& flow) noexcept override;
  void on_accepted(TcpConnection& connection) noexcept override;

  Setup setup_;
  std::deque<TcpChannel> channels_;  ///< never moved
  std::vector<TcpChannel*> free_;    ///< of those that are lent
  FlowTable<TcpChannel*> expected_;  ///< that are opening, by their flow from the near host
};

}  // namespace outrider::tg
