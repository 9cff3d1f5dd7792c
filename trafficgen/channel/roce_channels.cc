#include "trafficgen/channel/roce_channels.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "trafficgen/channel/queue_pair_limits.h"
#include "trafficgen/channel/roce_ideal_times.h"
#include "trafficgen/roce/queue_pair.h"
#include "trafficgen/roce/queue_pair_ends.h"

namespace outrider::tg {

namespace {

/// Most that a queue pair is given at once. It is no less than the largest window, so that the
/// next piece comes before the last one has left.
constexpr std::uint64_t kPieceBytes = std::uint64_t{1} << 28;
/// Two pieces are handed over at most, beside one that has partly been acknowledged.
constexpr std::uint32_t kRequests = 4;

}  // namespace

class RoceChannels::RoceChannel final : public Channel {
 public:
  RoceChannel(const Setup& setup, HostPair pair, const QueuePairEnds& ends)
      : hosts_(pair),
        near_(*this, ChannelSide::kNear, setup.hosts.near(pair), setup.roce, ends.near),
        far_(*this, ChannelSide::kFar, setup.hosts.far(pair), setup.roce, ends.far) {
    near_.host.add_endpoint(near_.pair, 0, setup.priority);
    far_.host.add_endpoint(far_.pair, 0, setup.priority);
  }
  void serve(User& user) noexcept { user_ = &user; }
  [[nodiscard]] HostPair hosts() const noexcept { return hosts_; }

  [[nodiscard]] bool open(Time now) noexcept override {
    if (!keeps_counts_)
      for (const ChannelSide side : {ChannelSide::kNear, ChannelSide::kFar})
        at(side).before = totals(side);
    sends_last_ = false;
    user_->on_open(*this, now);
    return true;
  }
  void send(ChannelSide from, std::uint64_t bytes, Time now) noexcept override {
    assert(bytes > 0);
    End& end = at(from);
    end.left_bytes += bytes;
    end.pair.requester().note_burst();
    end.hand_over(now);
    end.host.changed(end.pair, now);
  }
  void send_last(std::uint64_t bytes, Time now) noexcept override {
    sends_last_ = true;
    send(ChannelSide::kNear, bytes, now);
  }
  void tell_idle() noexcept override { tells_idle_ = true; }
  void keep_counts() override { keeps_counts_ = true; }
  [[nodiscard]] std::optional<Time> first_sent_at(ChannelSide from) const noexcept override {
    return at(from).pair.requester().first_sent_at();
  }
  [[nodiscard]] FlowCounts counts(ChannelSide from) const noexcept override {
    FlowCounts counts = totals(from);
    counts -= at(from).before;
    return counts;
  }
  [[nodiscard]] RoceCounters roce() const noexcept {
    RoceCounters sum = near_.pair.counters();
    sum += far_.pair.counters();
    sum.queue_pairs = 1;  // of the near host
    return sum;
  }

 private:
  struct End final : QueuePairListener {
    End(RoceChannel& c, ChannelSide s, Host& h, const RoceConfig& roce,
        const QueuePair::Setup& setup)
        : channel(c), side(s), host(h), pair(roce, setup, *this) {}

    void on_received(QueuePair& by, Time now) noexcept override {
      const std::uint64_t total = by.responder().delivered_bytes();
      const std::uint64_t fresh = total - std::exchange(delivered_bytes, total);
      channel.user_->on_delivered(channel, side, fresh, now);
    }
    void on_acknowledged(QueuePair& by, Time now) noexcept override {
      hand_over(now);
      if (left_bytes != 0 || !by.requester().requests().idle()) return;
      if (channel.tells_idle_) channel.user_->on_idle(channel, side, now);
      if (channel.sends_last_ && side == ChannelSide::kNear) channel.tell_end(now);
    }
    void on_gave_up(QueuePair& /*by*/, Time now) noexcept override { channel.end(now); }

    void hand_over(Time now) noexcept {
      Requester& requester = pair.requester();
      if (left_bytes == 0 ||
          requester.requests().appended_bytes() - requester.requests().acknowledged_bytes() >=
              kPieceBytes)
        return;
      const std::uint64_t bytes = std::min(left_bytes, kPieceBytes);
      left_bytes -= bytes;
      requester.append(bytes, std::nullopt, now);
    }
    void abandon_to(End& peer) noexcept {
      left_bytes = 0;
      pair.abandon_to(peer.pair);
    }

    RoceChannel& channel;
    ChannelSide side;
    Host& host;
    QueuePair pair;
    std::uint64_t left_bytes = 0;  ///< not yet given to the queue pair
    std::uint64_t delivered_bytes = 0;
    FlowCounts before{};  ///< of what this side sends, at the last open()
  };

  [[nodiscard]] End& at(ChannelSide side) noexcept {
    return side == ChannelSide::kNear ? near_ : far_;
  }
  [[nodiscard]] const End& at(ChannelSide side) const noexcept {
    return side == ChannelSide::kNear ? near_ : far_;
  }
  /// Returns the totals of what one side sends, since construction.
  [[nodiscard]] FlowCounts totals(ChannelSide from) const noexcept {
    const RoceCounters& c = at(from).pair.counters();
    return {.delivered_bytes = at(peer_of(from)).delivered_bytes,
            .retransmitted = c.retransmitted,
            .rtos_data = c.timeouts,
            .fast_recoveries = c.recoveries,
            .cnps_received = c.cnps_received};
  }
  /// Both sides go on behind what they have abandoned, so that nothing of it is delivered later.
  void end(Time now) noexcept {
    near_.abandon_to(far_);
    far_.abandon_to(near_);
    tell_end(now);
  }
  void tell_end(Time now) noexcept {
    const bool was_last = std::exchange(sends_last_, false);
    user_->on_ended(*this, now);
    if (was_last) user_->on_free(*this, now);
  }

  HostPair hosts_;
  User* user_ = nullptr;  ///< it is made for, or lent to
  End near_;
  End far_;
  bool tells_idle_ = false;
  bool keeps_counts_ = false;
  bool sends_last_ = false;
};

RoceChannels::RoceChannels(Setup setup)
    : setup_(std::move(setup)), shelves_(setup_.hosts.pairs()) {}

RoceChannels::~RoceChannels() = default;

RoceChannels::RoceChannel& RoceChannels::make_between(HostPair pair) {
  Host& near = setup_.hosts.near(pair);
  Host& far = setup_.hosts.far(pair);
  const std::uint32_t mtu = std::min(near.setup().mtu_bytes, far.setup().mtu_bytes);
  QueuePairEnds ends = make_queue_pair_ends(near, far, mtu, setup_.seed);
  ends.near.requests = ends.far.requests = kRequests;
  return channels_.emplace_back(setup_, pair, ends);
}

Channel& RoceChannels::make(Channel::User& user) {
  RoceChannel& channel = make_between({});
  channel.serve(user);
  return channel;
}

RoceChannels::RoceChannel& RoceChannels::make_to_lend(HostPair pair) {
  Shelf& shelf = shelves_[setup_.hosts.index_of(pair)];
  if (shelf.free.capacity() == shelf.made) shelf.free.reserve(2 * std::size_t{shelf.made} + 1);
  ++shelf.made;
  return make_between(pair);
}

void RoceChannels::stock(std::uint32_t /*channels*/) {
  const ChannelHosts& hosts = setup_.hosts;
  const std::uint32_t first = setup_.queue_pairs.value_or(first_queue_pairs(shelves_.size()));
  for (std::uint32_t from = 0; from < hosts.from.size(); ++from)
    for (std::uint32_t to = 0; to < hosts.to.size(); ++to) {
      if (hosts.from[from] == hosts.to[to]) continue;
      const HostPair pair{from, to};
      std::vector<RoceChannel*>& free = shelves_[hosts.index_of(pair)].free;
      for (std::uint32_t n = 0; n < first; ++n) {
        RoceChannel& channel = make_to_lend(pair);
        free.push_back(&channel);
      }
      std::ranges::reverse(free);  // the first is taken first
    }
}

bool RoceChannels::may_make(HostPair pair) const noexcept {
  const auto has_room = [](const Host& host) {
    return host.datagrams().size() < kMostQueuePairsAtHost;
  };
  return !setup_.queue_pairs && shelves_[setup_.hosts.index_of(pair)].made < kMaxQueuePairs &&
         has_room(setup_.hosts.near(pair)) && has_room(setup_.hosts.far(pair));
}

Channel* RoceChannels::lend(Channel::User& user, HostPair pair) {
  std::vector<RoceChannel*>& free = shelves_[setup_.hosts.index_of(pair)].free;
  RoceChannel* channel = nullptr;
  if (!free.empty()) {
    channel = free.back();
    free.pop_back();
  } else if (may_make(pair)) {
    channel = &make_to_lend(pair);
  } else {
    return nullptr;
  }
  channel->serve(user);
  return channel;
}

void RoceChannels::give_back(Channel& channel) noexcept {
  auto& own = static_cast<RoceChannel&>(channel);
  shelves_[setup_.hosts.index_of(own.hosts())].free.push_back(&own);
}

std::unique_ptr<IdealTimes> RoceChannels::ideal_times() const {
  return std::make_unique<RoceIdealTimes>(setup_.hosts);
}

RoceCounters RoceChannels::roce() const noexcept {
  RoceCounters sum;
  for (const RoceChannel& channel : channels_) sum += channel.roce();
  return sum;
}

}  // namespace outrider::tg
