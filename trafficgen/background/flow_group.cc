#include "trafficgen/background/flow_group.h"

#include <algorithm>
#include <cassert>

#include "trafficgen/background/host_names.h"

namespace outrider::tg {

namespace {
constexpr std::uint64_t kHeaderBytes =
    sizeof(EthernetHeader) + sizeof(Ipv4Header) + sizeof(TcpHeader);
constexpr int kPortTries = 16;
constexpr std::uint32_t kFirstPlaces = 1024;  // for flows; more are taken when these are in use
}  // namespace

struct FlowGroup::Flow {
  struct Sender final : ConnectionListener {
    explicit Sender(Flow& f) : flow(f) {}
    void on_established(TcpConnection&, Time now) noexcept override {
      flow.group.established(flow, now);
    }
    void on_delivered(TcpConnection&, Time) noexcept override {}
    void on_closed(TcpConnection&, Time now) noexcept override {
      flow.group.sender_closed(flow, now);
    }
    Flow& flow;
    TcpConnection* connection = nullptr;
  };
  struct Receiver final : ConnectionListener {
    explicit Receiver(Flow& f) : flow(f) {}
    void on_established(TcpConnection&, Time) noexcept override {}
    void on_delivered(TcpConnection& c, Time now) noexcept override {
      flow.group.delivered(flow, c.receiver().delivered_bytes(), now);
    }
    void on_closed(TcpConnection&, Time) noexcept override { flow.group.receiver_closed(flow); }
    Flow& flow;
    TcpConnection* connection = nullptr;
  };

  explicit Flow(FlowGroup& g) : group(g) {}
  Flow(const Flow&) = delete;
  Flow& operator=(const Flow&) = delete;

  void restart(const FlowArrival& a, const FlowKey& k) noexcept {
    arrival = a;
    key = k;
    delivered_bytes = 0;
    established_ns = delivered_ns = -1;
    slowdown_milli = 0;
    retransmitted = rtos = 0;
    receiver_closing = false;
  }

  FlowGroup& group;
  Sender sender{*this};
  Receiver receiver{*this};
  FlowArrival arrival;
  FlowKey key;
  std::uint64_t delivered_bytes = 0;
  std::int64_t established_ns = -1;
  std::int64_t delivered_ns = -1;
  std::uint64_t slowdown_milli = 0;
  std::uint64_t retransmitted = 0;
  std::uint64_t rtos = 0;
  bool receiver_closing = false;
};

FlowGroup::FlowGroup(Setup setup, GoodputSeries& goodput)
    : setup_(std::move(setup)),
      goodput_(goodput),
      by_key_(std::min(setup_.max_open, kFirstPlaces)),
      shortest_(setup_.from.size() * setup_.to.size()),
      tally_(setup_.name, setup_.offered, setup_.records) {
  assert(setup_.max_open > 0 && !setup_.from.empty() && setup_.arrivals);
  const std::uint32_t first = std::min(setup_.max_open, kFirstPlaces);
  free_.reserve(first);
  for (std::uint32_t i = 0; i < first; ++i) free_.push_back(&flows_.emplace_back(*this));
}

FlowGroup::~FlowGroup() = default;

void FlowGroup::schedule() {
  std::vector<Host*> receivers = setup_.to;  // a host may be named more than once
  std::ranges::sort(receivers);
  receivers.erase(std::unique(receivers.begin(), receivers.end()), receivers.end());
  for (Host* host : receivers) host->connections().listen(setup_.port, *this);
  next_ = setup_.arrivals->next();
  arm();
}

void FlowGroup::arm() noexcept {
  if (next_) setup_.from.front()->set_timer(*this, 0, next_->at);
}

void FlowGroup::on_timer(std::uint32_t /*tag*/, Time now) noexcept {
  for (; next_ && next_->at <= now; next_ = setup_.arrivals->next()) begin(*next_, now);
  arm();
}

bool FlowGroup::find_port(const FlowArrival& a, FlowKey& key, Time now) noexcept {
  Host& from = *setup_.from[a.from];
  const std::uint32_t to = setup_.to[a.to]->address();
  for (int i = 0; i < kPortTries; ++i) {
    const auto port = from.connections().free_port(from.ports(), to, setup_.port, now);
    if (!port) return false;
    key = {from.address(), to, *port, setup_.port};
    if (by_key_.find(key) == nullptr) return true;
  }
  return false;
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

void FlowGroup::begin(const FlowArrival& a, Time now) noexcept {
  tally_.arrive(a);
  Flow* place = take_place();
  if (place == nullptr) return tally_.refuse(a, FlowTally::Refusal::kNoPlace);
  FlowKey key;
  if (!find_port(a, key, now)) {
    free_.push_back(place);
    return tally_.refuse(a, FlowTally::Refusal::kNoPort);
  }
  Flow& f = *place;
  f.restart(a, key);
  if (by_key_.full()) by_key_.grow();
  by_key_.insert(key, &f);
  tally_.begin();
  Host& from = *setup_.from[a.from];
  f.sender.connection = &from.open(key, setup_.tcp, 0, f.sender, now);
  from.send(*f.sender.connection, a.bytes, now);
  from.close(*f.sender.connection, now);
}

Acceptor::Offer FlowGroup::accept(const FlowKey& flow) noexcept {
  Flow* const* f = by_key_.find(flow);
  if (f == nullptr || (*f)->receiver.connection != nullptr) return {};
  return {.config = &setup_.tcp, .listener = &(*f)->receiver};
}

void FlowGroup::on_accepted(TcpConnection& connection) noexcept {
  const FlowKey& k = connection.flow();
  Flow* const* f =
      by_key_.find({k.destination_address, k.source_address, k.destination_port, k.source_port});
  assert(f != nullptr);
  (*f)->receiver.connection = &connection;
}

FlowGroup::Shortest& FlowGroup::shortest_of(const Flow& f) noexcept {
  return shortest_[f.arrival.from * setup_.to.size() + f.arrival.to];
}

void FlowGroup::established(Flow& f, Time now) noexcept {
  f.established_ns = now.time_since_epoch().count();
  std::int64_t& shortest = shortest_of(f).handshake_ns;
  shortest = std::min(shortest, (now - f.arrival.at).count());
}

void FlowGroup::delivered(Flow& f, std::uint64_t total, Time now) noexcept {
  const std::uint64_t fresh = total - f.delivered_bytes;
  goodput_.add(TrafficClass::kBackground, fresh, now);
  tally_.deliver(fresh);
  f.delivered_bytes = total;
  if (total == f.arrival.bytes) complete(f, now);
}

std::uint64_t FlowGroup::wire_bytes_of(std::uint64_t bytes, std::uint32_t mss_bytes) noexcept {
  const std::uint64_t full = bytes / mss_bytes, rest = bytes % mss_bytes;
  std::uint64_t wire = full * (mss_bytes + kHeaderBytes + kL1OverheadBytes);
  if (rest != 0)
    wire += std::max<std::uint64_t>(rest + kHeaderBytes, kMinFrameBytes) + kL1OverheadBytes;
  return wire;
}

std::int64_t FlowGroup::ideal_ns(const Flow& f, std::int64_t took_ns) noexcept {
  const BitRate rate = std::min(setup_.from_rates[f.arrival.from], setup_.to_rates[f.arrival.to]);
  const double wire_ns = static_cast<double>(wire_bytes_of(f.arrival.bytes, setup_.tcp.mss_bytes)) *
                         8e9 / static_cast<double>(rate.bits_per_second);
  const auto frames_ns = static_cast<std::int64_t>(wire_ns);
  // A handshake that waited in a queue says too much of a way on which the data did not.
  Shortest& shortest = shortest_of(f);
  const std::int64_t own_handshake = f.established_ns - f.arrival.at.time_since_epoch().count();
  const std::int64_t left = std::max<std::int64_t>(took_ns - own_handshake - frames_ns, 0);
  shortest.way_ns = std::min({shortest.way_ns, shortest.handshake_ns / 2, left});
  return shortest.handshake_ns + shortest.way_ns + frames_ns;
}

void FlowGroup::complete(Flow& f, Time now) noexcept {
  f.delivered_ns = now.time_since_epoch().count();
  const auto took_ns = (now - f.arrival.at).count();
  f.slowdown_milli = static_cast<std::uint64_t>(static_cast<double>(took_ns) * 1e3 /
                                                static_cast<double>(ideal_ns(f, took_ns)));
  tally_.complete(f.arrival, took_ns);
  tally_.slow_down(f.arrival, f.slowdown_milli);
  close_receiver(f, now);
}

void FlowGroup::close_receiver(Flow& f, Time now) noexcept {
  if (f.receiver.connection == nullptr || f.receiver_closing) return;
  f.receiver_closing = true;
  setup_.to[f.arrival.to]->close(*f.receiver.connection, now);
}

void FlowGroup::sender_closed(Flow& f, Time now) noexcept {
  const TcpCounters& c = f.sender.connection->counters();
  f.retransmitted = c.retransmitted;
  f.rtos = c.rtos_data + c.rtos_handshake;
  tally_.add_repairs(c.retransmitted, c.rtos_data, c.rtos_handshake);
  f.sender.connection = nullptr;
  if (f.delivered_ns < 0) tally_.fail();
  close_receiver(f, now);  // of a sender that gave up: nobody else would
  if (f.receiver.connection == nullptr) retire(f);
}

void FlowGroup::receiver_closed(Flow& f) noexcept {
  f.receiver.connection = nullptr;
  if (f.sender.connection == nullptr) retire(f);
}

void FlowGroup::retire(Flow& f) noexcept {
  tally_.keep({.arrival = f.arrival,
               .established_ns = f.established_ns,
               .delivered_ns = f.delivered_ns,
               .slowdown_milli = f.slowdown_milli,
               .retransmitted = f.retransmitted,
               .rtos = f.rtos});
  by_key_.erase(f.key);
  free_.push_back(&f);
}

FlowGroupReport FlowGroup::report() const {
  FlowGroupReport r = tally_.report(names_of(setup_.from), names_of(setup_.to));
  r.after_end = setup_.arrivals->listed_flows_left(next_.has_value());
  for (const Flow& f : flows_) {
    if (f.sender.connection == nullptr) continue;
    const TcpCounters& c = f.sender.connection->counters();
    r.retransmitted += c.retransmitted;
    r.rtos_data += c.rtos_data;
    r.rtos_handshake += c.rtos_handshake;
  }
  return r;
}

}  // namespace outrider::tg
