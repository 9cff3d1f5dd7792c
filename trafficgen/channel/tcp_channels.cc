#include "trafficgen/channel/tcp_channels.h"

#include <array>
#include <cassert>
#include <memory>
#include <utility>

namespace outrider::tg {

class TcpChannels::TcpChannel final : public Channel {
 public:
  TcpChannel(TcpChannels& all, User& user, std::uint16_t port)
      : all_(all), user_(user), port_(port) {}

  [[nodiscard]] bool open(Time now) noexcept override {
    assert(near_.connection == nullptr);
    Host& from = *all_.setup_.from;
    const std::uint32_t to = all_.setup_.to->address();
    const auto port = from.connections().free_port(from.ports(), to, port_, now);
    if (!port) return false;
    for (const End* end : {&near_, &far_})
      if (end->delivered != 0) past(peer_of(end->side)).delivered_bytes += end->delivered;
    near_.delivered = far_.delivered = 0;
    far_.connection = nullptr;  // that of an earlier open() is heard no more
    flow_ = {from.address(), to, *port, port_};
    if (all_.expected_.full()) all_.expected_.grow();
    all_.expected_.insert(flow_, this);
    near_.connection = &from.open(flow_, all_.setup_.tcp, 0, near_, now);
    if (tells_idle_) near_.connection->tell_acknowledged();
    return true;
  }
  void send(ChannelSide side, std::uint64_t bytes, Time now) noexcept override {
    End& end = at(side);
    assert(bytes > 0 && end.connection != nullptr);
    end.connection->watch_offset(end.connection->written_bytes());
    host(side).send(*end.connection, bytes, now);
  }
  void tell_idle() noexcept override { tells_idle_ = true; }
  [[nodiscard]] std::optional<Time> first_sent_at(ChannelSide from) const noexcept override {
    const End& end = at(from);
    return end.connection == nullptr ? std::nullopt : end.connection->watched_sent_at();
  }
  [[nodiscard]] FlowCounts counts(ChannelSide from) const noexcept override {
    const End& end = at(from);
    FlowCounts counts = past_ == nullptr ? FlowCounts{} : (*past_)[index_of(from)];
    if (end.connection != nullptr) counts += counts_of(end.connection->counters());
    counts.delivered_bytes += at(peer_of(from)).delivered;
    return counts;
  }
  void prefetch() const noexcept override {
    if (near_.connection != nullptr) near_.connection->prefetch();
  }

  [[nodiscard]] ConnectionListener* acceptor() noexcept {
    return far_.connection == nullptr ? &far_ : nullptr;
  }
  void accepted(TcpConnection& connection) noexcept {
    far_.connection = &connection;
    if (tells_idle_) connection.tell_acknowledged();
  }

 private:
  struct End final : ConnectionListener {
    End(TcpChannel& c, ChannelSide s) : channel(c), side(s) {}
    void on_established(TcpConnection& /*c*/, Time now) noexcept override {
      if (side == ChannelSide::kFar) return;
      channel.all_.expected_.erase(channel.flow_);
      channel.user_.on_open(channel, now);
    }
    void on_delivered(TcpConnection& c, Time now) noexcept override {
      if (&c != connection) return;
      const std::uint64_t total = c.delivered_bytes();
      const std::uint64_t fresh = total - std::exchange(delivered, total);
      channel.user_.on_delivered(channel, side, fresh, now);
    }
    void on_acknowledged(TcpConnection& c, std::uint64_t /*bytes*/, Time now) noexcept override {
      if (&c == connection && c.acked_bytes() == c.written_bytes())
        channel.user_.on_idle(channel, side, now);
    }
    void on_closed(TcpConnection& c, Time now) noexcept override {
      channel.past(side) += counts_of(c.counters());
      if (&c != connection) return;
      connection = nullptr;
      if (side == ChannelSide::kNear) channel.ended(now);
    }

    TcpChannel& channel;
    TcpConnection* connection = nullptr;
    std::uint64_t delivered = 0;  ///< since open()
    ChannelSide side;
  };
  using Past = std::array<FlowCounts, 2>;  ///< [side]

  [[nodiscard]] static constexpr std::size_t index_of(ChannelSide side) noexcept {
    return static_cast<std::size_t>(side);
  }
  /// Returns the counts of connections that have closed, for which few channels need memory.
  [[nodiscard]] FlowCounts& past(ChannelSide of) {
    if (past_ == nullptr) past_ = std::make_unique<Past>();
    return (*past_)[index_of(of)];
  }

  void ended(Time now) noexcept {
    all_.expected_.erase(flow_);
    user_.on_ended(*this, now);
  }
  [[nodiscard]] End& at(ChannelSide side) noexcept {
    return side == ChannelSide::kNear ? near_ : far_;
  }
  [[nodiscard]] const End& at(ChannelSide side) const noexcept {
    return side == ChannelSide::kNear ? near_ : far_;
  }
  [[nodiscard]] Host& host(ChannelSide side) const noexcept {
    return side == ChannelSide::kNear ? *all_.setup_.from : *all_.setup_.to;
  }

  TcpChannels& all_;
  User& user_;
  std::unique_ptr<Past> past_{};
  FlowKey flow_{};  ///< of the latest connection
  std::uint16_t port_;
  bool tells_idle_ = false;
  End near_{*this, ChannelSide::kNear};
  End far_{*this, ChannelSide::kFar};
};

TcpChannels::TcpChannels(const Setup& setup) : setup_(setup), expected_(1) {
  assert(setup.ports > 0);
}

TcpChannels::~TcpChannels() = default;

Channel& TcpChannels::make(Channel::User& user) {
  const auto turn = static_cast<std::uint16_t>(channels_.size() % setup_.ports);
  return channels_.emplace_back(*this, user, static_cast<std::uint16_t>(setup_.first_port + turn));
}

void TcpChannels::listen() {
  for (std::uint16_t p = 0; p < setup_.ports; ++p)
    setup_.to->connections().listen(static_cast<std::uint16_t>(setup_.first_port + p), *this);
}

Acceptor::Offer TcpChannels::accept(const FlowKey& flow) noexcept {
  TcpChannel* const* channel = expected_.find(flow);
  return {.config = &setup_.tcp, .listener = channel == nullptr ? nullptr : (*channel)->acceptor()};
}

void TcpChannels::on_accepted(TcpConnection& connection) noexcept {
  TcpChannel* const* channel = expected_.find(connection.flow().reversed());
  assert(channel != nullptr);
  (*channel)->accepted(connection);
}

}  // namespace outrider::tg
