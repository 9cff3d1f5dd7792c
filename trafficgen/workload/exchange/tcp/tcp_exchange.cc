#include "trafficgen/workload/exchange/tcp/tcp_exchange.h"

#include <algorithm>

#include "common/net/burst_option.h"
#include "trafficgen/workload/exchange/job_records.h"
#include "trafficgen/workload/exchange/piece_stream.h"

namespace outrider::tg {

/// Receives the bursts of one lane from the stream. If parts are told, they are identified by what
/// was handed over; otherwise only the bytes of the burst are counted. More bytes than were handed
/// over come from a stranger and complete nothing.
class TcpExchange::Incoming {
 public:
  Incoming(TcpExchange& e, const Lane& l, const std::vector<BurstPart>& p)
      : exchange_(e),
        lane_(l),
        parts_(p),
        bytes_(bytes_of(p)),
        stream_(e.setup_.parts_told ? 2 * p.size() : 0) {}

  /// The sender has handed over `bytes` more.
  void append(std::uint32_t part, std::uint64_t bytes) noexcept {
    handed_over_ += bytes;
    if (exchange_.setup_.parts_told) stream_.append(part, bytes);
  }
  /// The sender has opened a new connection. Until the receiver has it too, arriving data are of an
  /// older connection.
  void expect_restart() noexcept {
    stream_.clear();
    arrived_ = 0;
    if (!restarts_) handed_over_before_ = handed_over_;
    handed_over_ = 0;
    restarts_ = true;
  }
  /// The receiver has a new connection, whose stream begins at 0.
  void restart() noexcept {
    base_ = 0;
    restarts_ = false;
  }

  /// @return false if more has been delivered than was handed over; then nothing is reported
  [[nodiscard]] bool deliver(std::uint64_t delivered_bytes, Time now) noexcept {
    if (delivered_bytes > (restarts_ ? handed_over_before_ : handed_over_)) return false;
    exchange_.records_.flow(lane_).on_delivered(delivered_bytes, now);
    if (!parts_.empty()) report(delivered_bytes, now);
    return true;
  }

 private:
  void report(std::uint64_t delivered_bytes, Time now) noexcept {
    if (!exchange_.setup_.parts_told) {
      if (delivered_bytes - base_ < bytes_) return;
      base_ += bytes_;
      return exchange_.listener_.on_burst(lane_, {.bytes = bytes_}, now);
    }
    if (restarts_) return;
    stream_.deliver(delivered_bytes, [&](std::uint32_t part) {
      exchange_.listener_.on_part(lane_, part, now);
      if (++arrived_ < parts_.size()) return;
      arrived_ = 0;
      exchange_.listener_.on_burst(lane_, {.bytes = bytes_}, now);
    });
  }

  TcpExchange& exchange_;
  Lane lane_;
  const std::vector<BurstPart>& parts_;
  std::uint64_t bytes_;                   ///< of a burst
  PieceStream stream_;                    ///< if parts are told
  std::size_t arrived_ = 0;               ///< parts of the current burst, if they are told
  bool restarts_ = false;                 ///< see expect_restart()
  std::uint64_t handed_over_ = 0;         ///< bytes, to the sender's connection
  std::uint64_t handed_over_before_ = 0;  ///< to the one before, while restarts_
  std::uint64_t base_ = 0;  ///< stream offset of the current burst, if parts are not told
};

/// The worker's end of a connection.
struct TcpExchange::NearEnd final : ConnectionListener {
  NearEnd(TcpExchange& e, std::uint32_t w, std::uint32_t t, Host& h, const Host& peer,
          const std::vector<BurstPart>& pulled)
      : exchange(e),
        push{w, t, BurstDirection::kPush},
        host(h),
        far_address(peer.address()),
        pulls(e, {w, t, BurstDirection::kPull}, pulled) {}

  void on_established(TcpConnection&, Time) noexcept override {}
  void on_delivered(TcpConnection& c, Time now) noexcept override {
    if (&c == connection && !pulls.deliver(c.delivered_bytes(), now)) exchange.refuse(c, host, now);
  }
  void on_acknowledged(TcpConnection& c, std::uint64_t bytes, Time now) noexcept override {
    if (&c == connection) exchange.listener_.on_acknowledged(push, bytes, now);
  }
  /// A connection of an earlier burst may close long after a new one has opened.
  void on_closed(TcpConnection& c, Time) noexcept override {
    exchange.records_.flow(push).on_sender_closed(c.counters());
    if (&c != connection) return;
    note_counters();
    forget();
  }
  void forget() noexcept {
    connection = nullptr;
    flow = {};
  }
  /// Adds the counts of the connection since the last call to the burst's record.
  void note_counters() noexcept {
    const std::uint64_t rtos_before = rtos, retransmitted_before = retransmitted;
    read_counters();
    BurstRecord& record = exchange.records_.burst(push.worker, exchange.iterations_[push.worker],
                                                  BurstDirection::kPush);
    record.rtos += static_cast<std::uint32_t>(rtos - rtos_before);
    record.retransmitted += static_cast<std::uint32_t>(retransmitted - retransmitted_before);
  }
  void read_counters() noexcept {
    const TcpCounters& c = connection->counters();
    rtos = c.rtos_data + c.rtos_handshake;
    retransmitted = c.retransmitted;
  }

  TcpExchange& exchange;
  Lane push;
  Host& host;
  std::uint32_t far_address;
  FlowKey flow{};  ///< of the connection, or of the next one
  TcpConnection* connection = nullptr;
  Incoming pulls;
  std::optional<BurstIdentity> sent{};  ///< the last push
  std::uint64_t rtos = 0;               ///< value at the last reading of the counters
  std::uint64_t retransmitted = 0;
};

/// The target's end.
struct TcpExchange::FarEnd final : ConnectionListener {
  FarEnd(TcpExchange& e, std::uint32_t w, std::uint32_t t, Host& h,
         const std::vector<BurstPart>& pushed)
      : exchange(e),
        pull{w, t, BurstDirection::kPull},
        host(h),
        pushes(e, {w, t, BurstDirection::kPush}, pushed) {}

  /// Takes over from the connection before. A SYN alone does not: anyone can send one.
  void on_established(TcpConnection& c, Time) noexcept override {
    connection = &c;
    pushes.restart();
    if (exchange.setup_.pulls_acknowledged) c.tell_acknowledged();
    exchange.records_.flow({pull.worker, pull.target, BurstDirection::kPush}).on_new_receiver();
  }
  void on_delivered(TcpConnection& c, Time now) noexcept override {
    if (&c == connection && !pushes.deliver(c.delivered_bytes(), now))
      exchange.refuse(c, host, now);
  }
  void on_acknowledged(TcpConnection& c, std::uint64_t bytes, Time now) noexcept override {
    if (&c == connection) exchange.listener_.on_acknowledged(pull, bytes, now);
  }
  void on_closed(TcpConnection& c, Time) noexcept override {
    exchange.records_.flow(pull).on_sender_closed(c.counters());
    if (&c == connection) connection = nullptr;
  }

  TcpExchange& exchange;
  Lane pull;
  Host& host;
  TcpConnection* connection = nullptr;
  Incoming pushes;
};

struct TcpExchange::Pair {
  NearEnd at_worker;
  FarEnd at_target;
};

/// Accepts the connections of the workers that push to one host. Each has one lane to it at most.
struct TcpExchange::Gate final : Acceptor {
  Gate(TcpExchange& e, Host& h) : exchange(e), host(h) {}

  [[nodiscard]] Pair* from(std::uint32_t address) noexcept {
    const auto it = std::ranges::find(pairs, address,
                                      [](const Pair* p) { return p->at_worker.host.address(); });
    return it == pairs.end() ? nullptr : *it;
  }
  Offer accept(const FlowKey& flow) noexcept override {
    Pair* pair = from(flow.source_address);
    if (pair == nullptr) return {};
    return {.config = &exchange.setup_.tcp,
            .listener = &pair->at_target,
            .option_bytes = kBurstOptionBytes,
            .owner = exchange.setup_.owner(pair->at_target.pull.worker),
            .nic_class = exchange.setup_.nic_class(pair->at_target.pull.target)};
  }
  void on_accepted(TcpConnection&) noexcept override {}

  TcpExchange& exchange;
  Host& host;
  std::vector<Pair*> pairs{};  ///< in the order of workers
};

TcpExchange::TcpExchange(const ExchangeSetup& setup, JobRecords& records, Listener& listener)
    : setup_(setup), records_(records), listener_(listener), iterations_(setup.workers.size(), 0) {
  for (std::uint32_t w = 0; w < setup.workers.size(); ++w) {
    targets_.push_back(setup.targets_of(w));
    for (std::uint32_t t = 0; t < setup.targets; ++t) {
      const std::size_t i = pairs_.size();
      auto& pair = pairs_.emplace_back();
      if (t >= targets_[w]) continue;
      Host& far = *setup_.ends[i];
      pair.reset(new Pair{{*this, w, t, *setup_.workers[w], far, setup_.pulls[i]},
                          {*this, w, t, far, setup_.pushes[i]}});
    }
  }
  make_gates();
}

TcpExchange::~TcpExchange() = default;

void TcpExchange::make_gates() {
  for (const auto& pair : pairs_) {
    if (pair == nullptr) continue;
    Host& host = pair->at_target.host;
    auto it = std::ranges::find_if(
        gates_, [&](const std::unique_ptr<Gate>& gate) { return &gate->host == &host; });
    if (it == gates_.end()) it = gates_.insert(it, std::make_unique<Gate>(*this, host));
    (*it)->pairs.push_back(pair.get());
  }
}

void TcpExchange::start() {
  for (const auto& gate : gates_) gate->host.connections().listen(setup_.port, *gate);
}

void TcpExchange::open(std::uint32_t worker, Time now) noexcept {
  if (connection_per_burst()) return;
  for (std::uint32_t t = 0; t < targets_[worker]; ++t) open(pair(worker, t).at_worker, now);
}

void TcpExchange::begin_iteration(std::uint32_t worker, std::uint32_t iteration) noexcept {
  iterations_[worker] = iteration;
}

void TcpExchange::end_iteration(std::uint32_t worker) noexcept {
  for (std::uint32_t t = 0; t < targets_[worker]; ++t) {
    NearEnd& end = pair(worker, t).at_worker;
    if (end.connection != nullptr) end.note_counters();
    if (connection_per_burst()) end.forget();  // the connection sends its FIN without us
  }
}

void TcpExchange::choose_flow(NearEnd& end) noexcept {
  if (end.flow == FlowKey{})
    end.flow = {end.host.address(), end.far_address, end.host.ports().next(), setup_.port};
}

/// The flow and initial sequence number of a connection are known before it is opened.
BurstPlace TcpExchange::next_place(const Lane& lane) noexcept {
  if (const TcpConnection* connection = sender(lane))
    return {connection->flow(), connection->stream().next_sequence()};
  if (lane.direction == BurstDirection::kPull) return {};
  NearEnd& end = pair(lane.worker, lane.target).at_worker;
  choose_flow(end);
  return {end.flow, end.host.connections().initial_sequence(end.flow) + 1};
}

FlowKey TcpExchange::flow(const Lane& lane) const noexcept {
  const Pair& p = pair(lane.worker, lane.target);
  if (lane.direction == BurstDirection::kPush) return p.at_worker.flow;
  return p.at_target.connection == nullptr ? FlowKey{} : p.at_target.connection->flow();
}

void TcpExchange::open(NearEnd& end, Time now) noexcept {
  choose_flow(end);
  end.pulls.expect_restart();
  end.pulls.restart();
  incoming(end.push).expect_restart();
  end.rtos = end.retransmitted = 0;
  records_.flow({end.push.worker, end.push.target, BurstDirection::kPull}).on_new_receiver();
  end.connection = &end.host.open(end.flow, setup_.tcp, kBurstOptionBytes, end, now,
                                  setup_.owner(end.push.worker));
  if (setup_.pushes_acknowledged) end.connection->tell_acknowledged();
}

void TcpExchange::begin_push(const BurstLedger& burst, BurstTime idle, Time now) noexcept {
  for (std::uint32_t t = 0; t < targets_[burst.burst().worker]; ++t) {
    NearEnd& end = pair(burst.burst().worker, t).at_worker;
    if (end.connection == nullptr) open(end, now);
    end.read_counters();
    // The last burst may still be in flight, and the connection forgets its first byte from now on.
    if (end.sent)
      JobRecords::note_first_sent(records_.burst(*end.sent),
                                  end.connection->stream().watched_sent_at());
    end.sent = burst.burst();
    end.connection->set_identity(burst.burst());
    end.connection->stream().watch(end.connection->stream().written_bytes());
    end.host.connections().begin_burst(*end.connection, burst, idle, now);
  }
}

void TcpExchange::begin_pull(const BurstLedger& burst, std::uint32_t target, Time now) noexcept {
  FarEnd& end = pair(burst.burst().worker, target).at_target;
  if (end.connection == nullptr) return;  // the worker is gone: its burst stays incomplete
  end.connection->set_identity(burst.burst());
  end.connection->stream().watch(end.connection->stream().written_bytes());
  end.host.connections().begin_burst(*end.connection, burst, BurstTime::kOthers, now);
}

TcpConnection* TcpExchange::sender(const Lane& lane) const noexcept {
  const Pair& p = pair(lane.worker, lane.target);
  return lane.direction == BurstDirection::kPush ? p.at_worker.connection : p.at_target.connection;
}

Host& TcpExchange::sending_host(const Lane& lane) const noexcept {
  const Pair& p = pair(lane.worker, lane.target);
  return lane.direction == BurstDirection::kPush ? p.at_worker.host : p.at_target.host;
}

TcpExchange::Incoming& TcpExchange::incoming(const Lane& lane) noexcept {
  Pair& p = pair(lane.worker, lane.target);
  return lane.direction == BurstDirection::kPush ? p.at_target.pushes : p.at_worker.pulls;
}

/// Returns whether what the connection sends will be taken for the lane. A target may still have a
/// connection that its worker has given up and opened again.
bool TcpExchange::heard(const Lane& lane, const TcpConnection& sender) const noexcept {
  return lane.direction == BurstDirection::kPush ||
         pair(lane.worker, lane.target).at_worker.flow == sender.flow().reversed();
}

/// Resets a connection into which someone else has injected bytes: its numbers are spoilt.
void TcpExchange::refuse(TcpConnection& connection, Host& host, Time now) noexcept {
  records_.note_excess();
  host.abort(connection, now);
}

void TcpExchange::hand_over(const Lane& lane, std::uint32_t part, std::uint64_t bytes,
                            Time now) noexcept {
  TcpConnection* connection = sender(lane);
  if (connection == nullptr) return;
  if (heard(lane, *connection)) incoming(lane).append(part, bytes);
  sending_host(lane).send(*connection, bytes, now);
}

void TcpExchange::hand_over_all(const Lane& lane, Time now) noexcept {
  const auto& parts = setup_.parts(lane);
  if (!setup_.parts_told) return hand_over(lane, 0, bytes_of(parts), now);
  for (std::uint32_t part = 0; part < parts.size(); ++part)
    hand_over(lane, part, parts[part].bytes, now);
}

void TcpExchange::end(const Lane& lane, Time now) noexcept {
  TcpConnection* connection = sender(lane);
  if (connection != nullptr && connection_per_burst()) sending_host(lane).close(*connection, now);
}

std::optional<Time> TcpExchange::first_sent_at(const Lane& lane) const noexcept {
  const TcpConnection* connection = sender(lane);
  return connection == nullptr ? std::nullopt : connection->stream().watched_sent_at();
}

FlowReport TcpExchange::report(const Lane& lane) const {
  const TcpConnection* connection = sender(lane);
  return records_.flow(lane).report(connection == nullptr ? nullptr : &connection->counters());
}

}  // namespace outrider::tg
