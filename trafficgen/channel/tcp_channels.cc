#include "trafficgen/channel/tcp_channels.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <memory>
#include <utility>

namespace outrider::tg {

namespace {
/// Channels that open at once without growing a table: 3 MB.
constexpr std::size_t kMostOpening = 65'536;

constexpr std::size_t index_of(ChannelSide side) noexcept { return static_cast<std::size_t>(side); }
}  // namespace

/// There may be a million of these: what their ends need is kept by side.
class TcpChannels::TcpChannel final : public Channel {
 public:
  TcpChannel(TcpChannels& all, User& user, std::uint16_t port)
      : all_(all), user_(user), near_(*this), far_(*this), port_(port) {}

  [[nodiscard]] bool open(Time now) noexcept override;
  void send(ChannelSide from, std::uint64_t bytes, Time now) noexcept override {
    TcpConnection* const connection = connection_[index_of(from)];
    assert(bytes > 0 && connection != nullptr);
    connection->stream().watch(connection->stream().written_bytes());
    Host& host = from == ChannelSide::kNear ? *all_.setup_.from : *all_.setup_.to;
    host.send(*connection, bytes, now);
  }
  void tell_idle() noexcept override { tells_idle_ = true; }
  void keep_counts() override { past_ = std::make_unique<Past>(); }
  [[nodiscard]] std::optional<Time> first_sent_at(ChannelSide from) const noexcept override {
    const TcpConnection* const connection = connection_[index_of(from)];
    return connection == nullptr ? std::nullopt : connection->stream().watched_sent_at();
  }
  [[nodiscard]] FlowCounts counts(ChannelSide from) const noexcept override;
  void prefetch() const noexcept override {
    if (connection_[index_of(ChannelSide::kNear)] != nullptr)
      tg::prefetch(*connection_[index_of(ChannelSide::kNear)]);
  }

  /// Returns who hears of the far end; nullptr if there is one.
  [[nodiscard]] ConnectionListener* acceptor() noexcept {
    return connection_[index_of(ChannelSide::kFar)] == nullptr ? &far_ : nullptr;
  }
  void accepted(TcpConnection& connection) noexcept {
    connection_[index_of(ChannelSide::kFar)] = &connection;
    if (tells_idle_) connection.application().tell_acknowledged();
  }

 private:
  template <ChannelSide kSide>
  struct End final : ConnectionListener {
    explicit End(TcpChannel& c) : channel(c) {}
    void on_established(TcpConnection& c, Time now) noexcept override {
      if (kSide == ChannelSide::kNear) channel.on_established(c, now);
    }
    void on_delivered(TcpConnection& c, Time now) noexcept override {
      channel.on_delivered(kSide, c, now);
    }
    void on_acknowledged(TcpConnection& c, std::uint64_t /*bytes*/, Time now) noexcept override {
      if (channel.is_current(kSide, c) && c.stream().acked_bytes() == c.stream().written_bytes())
        channel.user_.on_idle(channel, kSide, now);
    }
    void on_closed(TcpConnection& c, Time now) noexcept override {
      channel.on_closed(kSide, c, now);
    }
    TcpChannel& channel;
  };
  using Past = std::array<FlowCounts, 2>;  ///< [side]

  /// A connection of an earlier open() may still hear of late packets.
  [[nodiscard]] bool is_current(ChannelSide side, const TcpConnection& c) const noexcept {
    return &c == connection_[index_of(side)];
  }
  void on_established(TcpConnection& c, Time now) noexcept;
  void on_delivered(ChannelSide at, TcpConnection& c, Time now) noexcept;
  void on_closed(ChannelSide side, TcpConnection& c, Time now) noexcept;
  void keep(ChannelSide of, const FlowCounts& counts) noexcept {
    if (past_ != nullptr) (*past_)[index_of(of)] += counts;
  }

  TcpChannels& all_;
  User& user_;
  End<ChannelSide::kNear> near_;
  End<ChannelSide::kFar> far_;
  std::array<TcpConnection*, 2> connection_{};  ///< [side]
  std::array<std::uint64_t, 2> delivered_{};    ///< since open(), [side]
  std::unique_ptr<Past> past_{};                ///< of connections that are over; few need it
  std::uint16_t port_;
  bool tells_idle_ = false;
};

bool TcpChannels::TcpChannel::open(Time now) noexcept {
  assert(connection_[index_of(ChannelSide::kNear)] == nullptr);
  Host& from = *all_.setup_.from;
  const std::uint32_t to = all_.setup_.to->address();
  const auto port = from.connections().free_port(from.ports(), to, port_, now);
  if (!port) return false;
  for (const ChannelSide side : {ChannelSide::kNear, ChannelSide::kFar})
    if (const std::uint64_t bytes = std::exchange(delivered_[index_of(side)], 0); bytes != 0)
      keep(peer_of(side), {.delivered_bytes = bytes});
  connection_ = {};
  const FlowKey flow{from.address(), to, *port, port_};
  if (all_.expected_.full()) all_.expected_.grow();
  all_.expected_.insert(flow, this);
  TcpConnection& connection = from.open(flow, all_.setup_.tcp, 0, near_, now);
  connection_[index_of(ChannelSide::kNear)] = &connection;
  if (tells_idle_) connection.application().tell_acknowledged();
  return true;
}

FlowCounts TcpChannels::TcpChannel::counts(ChannelSide from) const noexcept {
  FlowCounts counts = past_ == nullptr ? FlowCounts{} : (*past_)[index_of(from)];
  if (const TcpConnection* connection = connection_[index_of(from)])
    counts += counts_of(connection->counters());
  counts.delivered_bytes += delivered_[index_of(peer_of(from))];
  return counts;
}

void TcpChannels::TcpChannel::on_established(TcpConnection& c, Time now) noexcept {
  all_.expected_.erase(c.flow());
  user_.on_open(*this, now);
}

void TcpChannels::TcpChannel::on_delivered(ChannelSide at, TcpConnection& c, Time now) noexcept {
  if (!is_current(at, c)) return;
  const std::uint64_t total = c.receiver().delivered_bytes();
  const std::uint64_t fresh = total - std::exchange(delivered_[index_of(at)], total);
  user_.on_delivered(*this, at, fresh, now);
}

void TcpChannels::TcpChannel::on_closed(ChannelSide side, TcpConnection& c, Time now) noexcept {
  keep(side, counts_of(c.counters()));
  if (!is_current(side, c)) return;
  connection_[index_of(side)] = nullptr;
  if (side == ChannelSide::kFar) return;
  connection_ = {};  // nothing more is delivered at the far side
  all_.expected_.erase(c.flow());
  user_.on_ended(*this, now);
}

TcpChannels::TcpChannels(const Setup& setup) : setup_(setup), expected_(1) {
  assert(setup.ports > 0);
}

TcpChannels::~TcpChannels() = default;

Channel& TcpChannels::make(Channel::User& user) {
  const auto turn = static_cast<std::uint16_t>(channels_.size() % setup_.ports);
  return channels_.emplace_back(*this, user, static_cast<std::uint16_t>(setup_.first_port + turn));
}

void TcpChannels::listen() {
  const auto opening = std::min<std::size_t>(channels_.size(), kMostOpening);
  expected_ = FlowTable<TcpChannel*>(static_cast<std::uint32_t>(std::max<std::size_t>(opening, 1)));
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
