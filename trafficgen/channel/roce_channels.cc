#include "trafficgen/channel/roce_channels.h"

#include <algorithm>
#include <cassert>
#include <utility>

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
  RoceChannel(const Setup& setup, User& user, const QueuePairEnds& ends)
      : user_(user),
        near_(*this, ChannelSide::kNear, *setup.from, setup.roce, ends.near),
        far_(*this, ChannelSide::kFar, *setup.to, setup.roce, ends.far) {
    setup.from->add_endpoint(near_.pair, 0, setup.priority);
    setup.to->add_endpoint(far_.pair, 0, setup.priority);
  }

  [[nodiscard]] bool open(Time now) noexcept override {
    user_.on_open(*this, now);
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
  void tell_idle() noexcept override { tells_idle_ = true; }
  void keep_counts() override {}
  [[nodiscard]] std::optional<Time> first_sent_at(ChannelSide from) const noexcept override {
    return at(from).pair.requester().first_sent_at();
  }
  [[nodiscard]] FlowCounts counts(ChannelSide from) const noexcept override {
    const RoceCounters& c = at(from).pair.counters();
    return {.delivered_bytes = at(peer_of(from)).delivered_bytes,
            .retransmitted = c.retransmitted,
            .rtos_data = c.timeouts,
            .fast_recoveries = c.recoveries,
            .cnps_received = c.cnps_received};
  }
  [[nodiscard]] RoceCounters roce() const noexcept override {
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
      channel.user_.on_delivered(channel, side, fresh, now);
    }
    void on_acknowledged(QueuePair& by, Time now) noexcept override {
      hand_over(now);
      if (channel.tells_idle_ && left_bytes == 0 && by.requester().requests().idle())
        channel.user_.on_idle(channel, side, now);
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
  };

  [[nodiscard]] End& at(ChannelSide side) noexcept {
    return side == ChannelSide::kNear ? near_ : far_;
  }
  [[nodiscard]] const End& at(ChannelSide side) const noexcept {
    return side == ChannelSide::kNear ? near_ : far_;
  }
  /// Both sides go on behind what they have abandoned, so that nothing of it is delivered later.
  void end(Time now) noexcept {
    near_.abandon_to(far_);
    far_.abandon_to(near_);
    user_.on_ended(*this, now);
  }

  User& user_;
  End near_;
  End far_;
  bool tells_idle_ = false;
};

RoceChannels::RoceChannels(const Setup& setup) : setup_(setup) {}

RoceChannels::~RoceChannels() = default;

Channel& RoceChannels::make(Channel::User& user) {
  const std::uint32_t mtu = std::min(setup_.from->setup().mtu_bytes, setup_.to->setup().mtu_bytes);
  QueuePairEnds ends = make_queue_pair_ends(*setup_.from, *setup_.to, mtu, setup_.seed);
  ends.near.requests = ends.far.requests = kRequests;
  return channels_.emplace_back(setup_, user, ends);
}

}  // namespace outrider::tg
