#include "trafficgen/background/flow_group.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "trafficgen/background/host_names.h"

namespace outrider::tg {

namespace {
constexpr std::uint32_t kFirstPlaces = 1024;  // for flows; more are taken when these are in use
}  // namespace

struct FlowGroup::Flow final : Channel::User {
  enum class State : std::uint8_t {
    kOpening,  ///< within Channel::open()
    kSending,
    kEnded,  ///< until the channel is free
  };
  explicit Flow(FlowGroup& g) : group(g) {}
  Flow(const Flow&) = delete;
  Flow& operator=(const Flow&) = delete;

  void restart(const FlowArrival& a) noexcept {
    record = {.arrival = a};
    delivered_bytes = 0;
    state = State::kOpening;
  }
  [[nodiscard]] HostPair pair() const noexcept { return {record.arrival.from, record.arrival.to}; }
  void on_open(Channel&, Time now) noexcept override { group.opened(*this, now); }
  void on_delivered(Channel&, ChannelSide /*at*/, std::uint64_t fresh_bytes,
                    Time now) noexcept override {
    group.delivered(*this, fresh_bytes, now);
  }
  void on_ended(Channel&, Time now) noexcept override { group.ended(*this, now); }
  void on_free(Channel&, Time /*now*/) noexcept override {
    group.tally_.keep(record);
    group.give_back(*this);
  }

  FlowGroup& group;
  Channel* channel = nullptr;  ///< null while the flow has none
  EndedFlow record{};
  std::uint64_t delivered_bytes = 0;
  std::int64_t first_way_ns = 0;
  State state = State::kOpening;
};

FlowGroup::FlowGroup(Setup setup, GoodputSeries& goodput)
    : setup_(std::move(setup)),
      goodput_(goodput),
      ideal_(setup_.channels->ideal_times()),
      tally_(setup_.name, setup_.offered, setup_.records) {
  assert(setup_.max_open > 0 && !setup_.hosts.from.empty() && setup_.arrivals);
  const std::uint32_t first = std::min(setup_.max_open, kFirstPlaces);
  setup_.channels->stock(first);
  free_.reserve(first);
  for (std::uint32_t i = 0; i < first; ++i) free_.push_back(&flows_.emplace_back(*this));
}

FlowGroup::~FlowGroup() = default;

void FlowGroup::schedule() {
  setup_.channels->listen();
  next_ = setup_.arrivals->next();
  arm();
}

void FlowGroup::arm() noexcept {
  if (next_) setup_.hosts.from.front()->set_timer(*this, 0, next_->at);
}

void FlowGroup::on_timer(std::uint32_t /*tag*/, Time now) noexcept {
  for (; next_ && next_->at <= now; next_ = setup_.arrivals->next()) begin(*next_, now);
  arm();
}

/// @return nullptr if max_open flows are open
FlowGroup::Flow* FlowGroup::take_place() noexcept {
  if (free_.empty()) {
    if (flows_.size() == setup_.max_open) return nullptr;
    if (free_.capacity() == flows_.size()) free_.reserve(2 * flows_.size());  // not at a flow's end
    return &flows_.emplace_back(*this);
  }
  Flow* f = free_.back();
  free_.pop_back();
  return f;
}

void FlowGroup::give_back(Flow& f) noexcept {
  if (f.channel != nullptr) setup_.channels->give_back(*std::exchange(f.channel, nullptr));
  free_.push_back(&f);
}

void FlowGroup::begin(const FlowArrival& a, Time now) noexcept {
  tally_.arrive(a);
  Flow* place = take_place();
  if (place == nullptr) return tally_.refuse(a, FlowTally::Refusal::kNoPlace);
  Flow& f = *place;
  f.restart(a);
  f.channel = setup_.channels->lend(f, f.pair());
  if (f.channel == nullptr || !f.channel->open(now)) {
    tally_.refuse(
        a, f.channel == nullptr ? FlowTally::Refusal::kNoPlace : FlowTally::Refusal::kNoPort);
    return give_back(f);
  }
  f.state = Flow::State::kSending;
  tally_.begin();
  f.channel->send_last(a.bytes, now);
}

void FlowGroup::opened(Flow& f, Time now) noexcept {
  if (f.state == Flow::State::kOpening) return;  // without a handshake
  f.record.established_ns = now.time_since_epoch().count();
  ideal_->on_handshake(f.pair(), (now - f.record.arrival.at).count());
}

void FlowGroup::delivered(Flow& f, std::uint64_t fresh_bytes, Time now) noexcept {
  goodput_.add(TrafficClass::kBackground, fresh_bytes, now);
  tally_.deliver(fresh_bytes);
  if (f.delivered_bytes == 0)
    f.first_way_ns = (now - f.channel->first_sent_at(ChannelSide::kNear).value_or(now)).count();
  f.delivered_bytes += fresh_bytes;
  const FlowArrival& a = f.record.arrival;
  if (f.delivered_bytes != a.bytes) return;
  f.record.delivered_ns = now.time_since_epoch().count();
  tally_.complete(a, (now - a.at).count());
  judge(f, std::nullopt);
}

/// Compares a flow that is delivered with its ideal. @param answer_ns  absent: not known yet
void FlowGroup::judge(Flow& f, std::optional<std::int64_t> answer_ns) noexcept {
  EndedFlow& r = f.record;
  const std::int64_t arrival_ns = r.arrival.at.time_since_epoch().count();
  const std::int64_t took_ns = r.delivered_ns - arrival_ns;
  const auto ideal_ns =
      ideal_->ideal_ns({.pair = f.pair(),
                        .bytes = r.arrival.bytes,
                        .took_ns = took_ns,
                        .handshake_ns = r.established_ns < 0 ? 0 : r.established_ns - arrival_ns,
                        .first_way_ns = f.first_way_ns,
                        .answer_ns = answer_ns});
  if (!ideal_ns) return;
  r.slowdown_milli = static_cast<std::uint64_t>(static_cast<double>(took_ns) * 1e3 /
                                                static_cast<double>(*ideal_ns));
  tally_.slow_down(r.arrival, r.slowdown_milli);
}

void FlowGroup::ended(Flow& f, Time now) noexcept {
  f.state = Flow::State::kEnded;
  EndedFlow& r = f.record;
  if (r.delivered_ns < 0) tally_.fail();
  else if (r.slowdown_milli == 0) judge(f, now.time_since_epoch().count() - r.delivered_ns);
  const FlowCounts c = f.channel->counts(ChannelSide::kNear);
  r.retransmitted = c.retransmitted;
  r.rtos = c.rtos_data + c.rtos_handshake;
  tally_.add_repairs(c.retransmitted, c.rtos_data, c.rtos_handshake);
}

FlowGroupReport FlowGroup::report() const {
  FlowGroupReport r = tally_.report(names_of(setup_.hosts.from), names_of(setup_.hosts.to));
  r.after_end = setup_.arrivals->listed_flows_left(next_.has_value());
  for (const Flow& f : flows_) {
    if (f.channel == nullptr || f.state != Flow::State::kSending) continue;
    const FlowCounts c = f.channel->counts(ChannelSide::kNear);
    r.retransmitted += c.retransmitted;
    r.rtos_data += c.rtos_data;
    r.rtos_handshake += c.rtos_handshake;
  }
  return r;
}

}  // namespace outrider::tg
