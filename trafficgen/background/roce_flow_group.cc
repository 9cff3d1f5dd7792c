#include "trafficgen/background/roce_flow_group.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "trafficgen/background/host_names.h"
#include "trafficgen/channel/roce_channels.h"
#include "trafficgen/roce/path_mtu.h"

namespace outrider::tg {

struct RoceFlowGroup::Flow final : Channel::User {
  Flow(RoceFlowGroup& g, Channels& channels) : group(g), channel(channels.make(*this)) {
    channel.tell_idle();
  }

  void restart(const FlowArrival& a) noexcept {
    ended = {.arrival = a};
    delivered_bytes = 0;
    noted = channel.counts(ChannelSide::kNear);
  }
  void on_delivered(Channel&, ChannelSide /*at*/, std::uint64_t fresh_bytes,
                    Time now) noexcept override {
    group.delivered(*this, fresh_bytes, now);
  }
  void on_idle(Channel&, ChannelSide /*from*/, Time now) noexcept override {
    group.end(*this, now);
  }
  void on_ended(Channel&, Time now) noexcept override {
    opened = false;
    group.end(*this, now);
  }

  RoceFlowGroup& group;
  Channel& channel;
  bool opened = false;
  EndedFlow ended{};
  std::uint64_t delivered_bytes = 0;
  std::int64_t first_way_ns = 0;  ///< of its first packet, from the sender's NIC on
  FlowCounts noted{};             ///< counts of the channel's earlier flows
};

RoceFlowGroup::RoceFlowGroup(Setup setup, GoodputSeries& goodput)
    : setup_(std::move(setup)),
      goodput_(goodput),
      pools_(setup_.from.size() * setup_.to.size()),
      tally_(setup_.name, setup_.offered, setup_.records) {
  assert(setup_.queue_pairs != 0U && setup_.max_open > 0 && setup_.arrivals);
  for (std::uint32_t f = 0; f < setup_.from.size(); ++f)
    for (std::uint32_t t = 0; t < setup_.to.size(); ++t) {
      if (setup_.from[f] == setup_.to[t]) continue;
      Pool& pool = pool_of({.from = f, .to = t});
      pool.channels =
          std::make_unique<RoceChannels>(RoceChannels::Setup{.from = setup_.from[f],
                                                             .to = setup_.to[t],
                                                             .roce = setup_.roce,
                                                             .priority = setup_.priority,
                                                             .seed = setup_.seed});
      for (std::uint32_t n = 0; n < setup_.queue_pairs.value_or(kFirstQueuePairs); ++n)
        pool.free.push_back(&make_queue_pair(f, t));
      std::ranges::reverse(pool.free);  // the first is taken first
    }
}

RoceFlowGroup::~RoceFlowGroup() = default;

RoceFlowGroup::Flow& RoceFlowGroup::make_queue_pair(std::uint32_t from, std::uint32_t to) {
  Pool& pool = pool_of({.from = from, .to = to});
  if (pool.free.capacity() == pool.made) pool.free.reserve(2 * std::size_t{pool.made} + 1);
  ++pool.made;
  return flows_.emplace_back(*this, *pool.channels);
}

/// @return nullptr if the flow has to be refused
RoceFlowGroup::Flow* RoceFlowGroup::take_queue_pair(const FlowArrival& a) noexcept {
  if (taken_ == setup_.max_open) return nullptr;
  Pool& pool = pool_of(a);
  if (!pool.free.empty()) {
    Flow* f = pool.free.back();
    pool.free.pop_back();
    return f;
  }
  const auto has_room = [](const Host& host) {
    return host.datagrams().size() < kMostQueuePairsAtHost;
  };
  if (setup_.queue_pairs || pool.made == kMaxQueuePairs || !has_room(*setup_.from[a.from]) ||
      !has_room(*setup_.to[a.to]))
    return nullptr;
  return &make_queue_pair(a.from, a.to);
}

void RoceFlowGroup::schedule() {
  next_ = setup_.arrivals->next();
  arm();
}

void RoceFlowGroup::arm() noexcept {
  if (next_) setup_.from.front()->set_timer(*this, 0, next_->at);
}

void RoceFlowGroup::on_timer(std::uint32_t /*tag*/, Time now) noexcept {
  for (; next_ && next_->at <= now; next_ = setup_.arrivals->next()) begin(*next_, now);
  arm();
}

void RoceFlowGroup::begin(const FlowArrival& a, Time now) noexcept {
  tally_.arrive(a);
  Flow* taken = take_queue_pair(a);
  if (taken == nullptr) return tally_.refuse(a, FlowTally::Refusal::kNoPlace);
  Flow& f = *taken;
  ++taken_;
  f.restart(a);
  tally_.begin();
  if (!f.opened) f.opened = f.channel.open(now);
  f.channel.send(ChannelSide::kNear, a.bytes, now);
}

void RoceFlowGroup::delivered(Flow& f, std::uint64_t fresh_bytes, Time now) noexcept {
  goodput_.add(TrafficClass::kBackground, fresh_bytes, now);
  tally_.deliver(fresh_bytes);
  if (f.delivered_bytes == 0)
    f.first_way_ns = (now - f.channel.first_sent_at(ChannelSide::kNear).value_or(now)).count();
  f.delivered_bytes += fresh_bytes;
  if (f.delivered_bytes == f.ended.arrival.bytes) complete(f, now);
}

std::uint32_t RoceFlowGroup::path_mtu(const FlowArrival& a) const noexcept {
  return path_mtu_of(
      std::min(setup_.from[a.from]->setup().mtu_bytes, setup_.to[a.to]->setup().mtu_bytes));
}

/// Returns how long frames with so much payload take at the slower NIC.
std::int64_t RoceFlowGroup::frames_ns(const FlowArrival& a, std::uint64_t bytes) const noexcept {
  const BitRate rate = std::min(setup_.from[a.from]->setup().rate, setup_.to[a.to]->setup().rate);
  return static_cast<std::int64_t>(static_cast<double>(wire_bytes_of_write(bytes, path_mtu(a))) *
                                   8e9 / static_cast<double>(rate.bits_per_second));
}

void RoceFlowGroup::complete(Flow& f, Time now) noexcept {
  f.ended.delivered_ns = now.time_since_epoch().count();
  tally_.complete(f.ended.arrival, (now - f.ended.arrival.at).count());
}

/// Compares a flow that is delivered with its ideal. @param now its last acknowledgment has come
void RoceFlowGroup::judge(Flow& f, Time now) noexcept {
  const FlowArrival& a = f.ended.arrival;
  const std::int64_t took_ns = f.ended.delivered_ns - a.at.time_since_epoch().count();
  const std::int64_t frames = frames_ns(a, a.bytes);
  const std::int64_t rest_ns = std::max<std::int64_t>(took_ns - frames, 0);
  IdealWay& way = pool_of(a).way;
  way.answer_ns = std::min(way.answer_ns, now.time_since_epoch().count() - f.ended.delivered_ns);
  std::int64_t ideal_way_ns = std::min(way.answer_ns, rest_ns);  // of less than a packet
  if (a.bytes >= path_mtu(a)) {
    const std::int64_t first_ns =
        std::max<std::int64_t>(f.first_way_ns - frames_ns(a, path_mtu(a)), 0);
    data_over_answer_ns_ =
        std::min(data_over_answer_ns_, std::max<std::int64_t>(first_ns - way.answer_ns, 0));
    way.data_ns = std::min({way.data_ns, first_ns, rest_ns});
    ideal_way_ns = std::min(way.data_ns, way.answer_ns + data_over_answer_ns_);
  }
  f.ended.slowdown_milli = static_cast<std::uint64_t>(static_cast<double>(took_ns) * 1e3 /
                                                      static_cast<double>(ideal_way_ns + frames));
  tally_.slow_down(a, f.ended.slowdown_milli);
}

/// The queue pair is free again: all is acknowledged, or the flow has failed.
void RoceFlowGroup::end(Flow& f, Time now) noexcept {
  if (f.ended.delivered_ns < 0) tally_.fail();
  else judge(f, now);
  const FlowCounts c = f.channel.counts(ChannelSide::kNear);
  f.ended.retransmitted = c.retransmitted - f.noted.retransmitted;
  f.ended.rtos = c.rtos_data - f.noted.rtos_data;
  tally_.keep(f.ended);
  --taken_;
  pool_of(f.ended.arrival).free.push_back(&f);
}

FlowGroupReport RoceFlowGroup::report() const {
  FlowGroupReport r = tally_.report(names_of(setup_.from), names_of(setup_.to));
  r.after_end = setup_.arrivals->listed_flows_left(next_.has_value());
  for (const Flow& f : flows_) {
    const FlowCounts c = f.channel.counts(ChannelSide::kNear);
    r.retransmitted += c.retransmitted;
    r.rtos_data += c.rtos_data;
  }
  return r;
}

RoceCounters RoceFlowGroup::roce() const {
  RoceCounters sum;
  for (const Flow& f : flows_) sum += f.channel.roce();
  return sum;
}

}  // namespace outrider::tg
