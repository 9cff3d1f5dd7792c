#include "trafficgen/channel/tcp_channels.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <memory>
#include <utility>

#include "trafficgen/channel/tcp_ideal_times.h"

namespace outrider::tg {

namespace {
/// Channels that open at once without growing a table: 3 MB.
constexpr std::size_t kMostOpening = 65'536;
constexpr int kPortTries = 16;

constexpr std::size_t index_of(ChannelSide side) noexcept { return static_cast<std::size_t>(side); }
}  // namespace

/// There may be a million of these: what their ends need is kept by side.
class TcpChannels::TcpChannel final : public Channel {
 public:
  TcpChannel(TcpChannels& all, std::uint16_t port)
      : all_(all), near_(*this), far_(*this), port_(port) {}
  void serve(User& user, HostPair pair) noexcept {
    user_ = &user;
    pair_ = pair;
  }

  [[nodiscard]] bool open(Time now) noexcept override;
  void send(ChannelSide from, std::uint64_t bytes, Time now) noexcept override {
    TcpConnection* const connection = connection_[index_of(from)];
    assert(bytes > 0 && connection != nullptr);
    connection->stream().watch(connection->stream().written_bytes());
    host_of(from).send(*connection, bytes, now);
  }
  void send_last(std::uint64_t bytes, Time now) noexcept override {
    send(ChannelSide::kNear, bytes, now);
    sends_last_ = true;
    host_of(ChannelSide::kNear).close(*connection_[index_of(ChannelSide::kNear)], now);
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
        channel.user_->on_idle(channel, kSide, now);
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
  [[nodiscard]] Host& host_of(ChannelSide side) const noexcept {
    const ChannelHosts& hosts = all_.setup_.hosts;
    return side == ChannelSide::kNear ? hosts.near(pair_) : hosts.far(pair_);
  }
  /// @param near the connection's near end. @return true if all that it sends has arrived
  [[nodiscard]] bool all_arrived(const TcpConnection& near) const noexcept {
    return delivered_[index_of(ChannelSide::kFar)] == near.stream().written_bytes();
  }
  void on_established(TcpConnection& c, Time now) noexcept;
  void on_delivered(ChannelSide at, TcpConnection& c, Time now) noexcept;
  void on_near_over(TcpConnection& c, Time now) noexcept;
  void on_closed(ChannelSide side, TcpConnection& c, Time now) noexcept;
  void keep(ChannelSide of, const FlowCounts& counts) noexcept {
    if (past_ != nullptr) (*past_)[index_of(of)] += counts;
  }

  TcpChannels& all_;
  User* user_ = nullptr;  ///< it is made for, or lent to
  End<ChannelSide::kNear> near_;
  End<ChannelSide::kFar> far_;
  std::array<TcpConnection*, 2> connection_{};  ///< [side]
  std::array<std::uint64_t, 2> delivered_{};    ///< since open(), [side]
  std::unique_ptr<Past> past_{};                ///< of connections that are over; few need it
  HostPair pair_{};
  std::uint16_t port_;
  bool tells_idle_ = false;
  bool sends_last_ = false;
};

bool TcpChannels::TcpChannel::open(Time now) noexcept {
  assert(connection_[index_of(ChannelSide::kNear)] == nullptr);
  const auto flow = all_.free_flow(pair_, port_, now);
  if (!flow) return false;
  for (const ChannelSide side : {ChannelSide::kNear, ChannelSide::kFar})
    if (const std::uint64_t bytes = std::exchange(delivered_[index_of(side)], 0); bytes != 0)
      keep(peer_of(side), {.delivered_bytes = bytes});
  connection_ = {};
  sends_last_ = false;
  if (all_.expected_.full()) all_.expected_.grow();
  all_.expected_.insert(*flow, this);
  TcpConnection& connection =
      host_of(ChannelSide::kNear).open(*flow, all_.setup_.tcp, 0, near_, now);
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
  user_->on_open(*this, now);
}

void TcpChannels::TcpChannel::on_delivered(ChannelSide at, TcpConnection& c, Time now) noexcept {
  const TcpConnection* const near = connection_[index_of(ChannelSide::kNear)];
  if (!is_current(at, c) || near == nullptr) return;  // nothing is delivered after the end
  const std::uint64_t total = c.receiver().delivered_bytes();
  const std::uint64_t fresh = total - std::exchange(delivered_[index_of(at)], total);
  user_->on_delivered(*this, at, fresh, now);
  if (sends_last_ && at == ChannelSide::kFar && all_arrived(*near))
    host_of(ChannelSide::kFar).close(c, now);
}

void TcpChannels::TcpChannel::on_closed(ChannelSide side, TcpConnection& c, Time now) noexcept {
  const bool current = is_current(side, c);
  const bool near = side == ChannelSide::kNear;
  if (current && near && sends_last_) user_->on_ended(*this, now);  // counts() still reads it
  keep(side, counts_of(c.counters()));
  if (!current) return;
  connection_[index_of(side)] = nullptr;
  if (near) on_near_over(c, now);
  if (sends_last_ && connection_ == std::array<TcpConnection*, 2>{}) user_->on_free(*this, now);
}

void TcpChannels::TcpChannel::on_near_over(TcpConnection& c, Time now) noexcept {
  all_.expected_.erase(c.flow());
  TcpConnection* const far = connection_[index_of(ChannelSide::kFar)];
  if (!sends_last_) {
    connection_ = {};  // nothing more is delivered at the far side
    user_->on_ended(*this, now);
  } else if (far != nullptr && !all_arrived(c)) {  // given up: nobody else would close it
    host_of(ChannelSide::kFar).close(*far, now);
  }
}

TcpChannels::TcpChannels(Setup setup) : setup_(std::move(setup)), expected_(1) {
  assert(setup_.ports > 0);
}

TcpChannels::~TcpChannels() = default;

TcpChannels::TcpChannel& TcpChannels::add() {
  const auto turn = static_cast<std::uint16_t>(channels_.size() % setup_.ports);
  return channels_.emplace_back(*this, static_cast<std::uint16_t>(setup_.first_port + turn));
}

Channel& TcpChannels::make(Channel::User& user) {
  TcpChannel& channel = add();
  channel.serve(user, {});
  return channel;
}

void TcpChannels::listen() {
  const auto opening = std::min<std::size_t>(channels_.size(), kMostOpening);
  expected_ = FlowTable<TcpChannel*>(static_cast<std::uint32_t>(std::max<std::size_t>(opening, 1)));
  std::vector<Host*> hosts = setup_.hosts.to;  // a host may be named more than once
  std::ranges::sort(hosts);
  hosts.erase(std::unique(hosts.begin(), hosts.end()), hosts.end());
  for (Host* host : hosts)
    for (std::uint16_t p = 0; p < setup_.ports; ++p)
      host->connections().listen(static_cast<std::uint16_t>(setup_.first_port + p), *this);
}

void TcpChannels::stock(std::uint32_t channels) {
  free_.reserve(channels);
  for (std::uint32_t i = 0; i < channels; ++i) free_.push_back(&add());
}

Channel* TcpChannels::lend(Channel::User& user, HostPair pair) {
  TcpChannel* channel = nullptr;
  if (free_.empty()) {
    channel = &add();
    if (free_.capacity() < channels_.size()) free_.reserve(2 * channels_.size());
  } else {
    channel = free_.back();
    free_.pop_back();
  }
  channel->serve(user, pair);
  return channel;
}

void TcpChannels::give_back(Channel& channel) noexcept {
  free_.push_back(&static_cast<TcpChannel&>(channel));
}

std::unique_ptr<IdealTimes> TcpChannels::ideal_times() const {
  return std::make_unique<TcpIdealTimes>(setup_.hosts, setup_.tcp.mss_bytes);
}

/// Returns a flow that neither host knows: a far end may outlast its near end.
std::optional<FlowKey> TcpChannels::free_flow(HostPair pair, std::uint16_t port,
                                              Time now) const noexcept {
  Host& near = setup_.hosts.near(pair);
  Host& far = setup_.hosts.far(pair);
  for (int tries = 0; tries < kPortTries; ++tries) {
    const auto own = near.connections().free_port(near.ports(), far.address(), port, now);
    if (!own) return std::nullopt;
    const FlowKey flow{near.address(), far.address(), *own, port};
    if (!far.connections().table().find(flow.reversed())) return flow;
  }
  return std::nullopt;
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
