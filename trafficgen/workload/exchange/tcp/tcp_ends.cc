#include "trafficgen/workload/exchange/tcp/tcp_ends.h"

#include "common/net/burst_option.h"

namespace outrider::tg {
namespace {

/// Resets a connection into which someone else has injected bytes: its numbers are spoilt.
void refuse(const ExchangeContext& context, TcpConnection& connection, Host& host,
            Time now) noexcept {
  context.records.note_excess();
  host.abort(connection, now);
}

/// Returns whether an end hears of acknowledgments of what it sends on a lane.
bool hears_acknowledged(const ExchangeContext& context, const Lane& sends) noexcept {
  return context.setup.acknowledged(sends.direction) || context.setup.tcp.mltcp;
}

/// Returns where the next burst of a lane will be in the connection's stream, which MLTCP then
/// begins; nothing without it.
BurstExtent next_extent(const ExchangeContext& context, const Lane& lane,
                        TcpConnection& connection) noexcept {
  if (!context.setup.tcp.mltcp) return {};
  connection.note_share(0);
  return {connection.stream().written_bytes(), bytes_of(context.setup.parts(lane))};
}

/// Tells MLTCP and the listener that more of a burst is acknowledged.
void on_acknowledged(const ExchangeContext& context, const Lane& lane, const BurstExtent& extent,
                     TcpConnection& connection, std::uint64_t bytes, Time now) noexcept {
  if (context.setup.tcp.mltcp)
    connection.note_share(extent.share(connection.stream().acked_bytes()));
  if (context.setup.acknowledged(lane.direction))
    context.listener.on_acknowledged(lane, bytes, now);
}

/// States that the next bytes of the connection are of this burst, and watches the first one leave.
void begin_burst(TcpConnection& connection, Host& host, const BurstLedger& burst, BurstTime idle,
                 Time now) noexcept {
  connection.application().set_identity(burst.burst());
  connection.stream().watch(connection.stream().written_bytes());
  host.connections().begin_burst(connection, burst, idle, now);
}

}  // namespace

TcpNearEnd::TcpNearEnd(const ExchangeContext& c, std::uint32_t worker, std::uint32_t target)
    : context(c),
      push{worker, target, BurstDirection::kPush},
      host(*c.setup.workers[worker]),
      far_address(c.setup.end(worker, target).address()),
      pulls(c, {worker, target, BurstDirection::kPull}) {}

void TcpNearEnd::choose_flow() noexcept {
  if (flow == FlowKey{})
    flow = {host.address(), far_address, host.ports().next(), context.setup.port};
}

void TcpNearEnd::open(Time now) noexcept {
  choose_flow();
  pulls.expect_restart();
  pulls.restart();
  rtos_ = retransmitted_ = 0;
  context.records.flow({push.worker, push.target, BurstDirection::kPull}).on_new_receiver();
  connection = &host.open(flow, context.setup.tcp, kBurstOptionBytes, *this, now,
                          context.setup.owner(push.worker));
  if (hears_acknowledged(context, push)) connection->application().tell_acknowledged();
}

void TcpNearEnd::begin_push(const BurstLedger& burst, BurstTime idle, Time now) noexcept {
  read_counters();
  // The last burst may still be in flight, and the connection forgets its first byte from now on.
  if (sent)
    JobRecords::note_first_sent(context.records.burst(*sent),
                                connection->stream().watched_sent_at());
  sent = burst.burst();
  extent = next_extent(context, push, *connection);
  begin_burst(*connection, host, burst, idle, now);
}

void TcpNearEnd::end_iteration() noexcept {
  if (connection != nullptr) note_counters();
  if (connection_per_burst(context.setup)) forget();  // the connection sends its FIN without us
}

void TcpNearEnd::on_delivered(TcpConnection& c, Time now) noexcept {
  if (&c == connection && !pulls.deliver(c.receiver().delivered_bytes(), now))
    refuse(context, c, host, now);
}

void TcpNearEnd::on_acknowledged(TcpConnection& c, std::uint64_t bytes, Time now) noexcept {
  if (&c == connection) tg::on_acknowledged(context, push, extent, c, bytes, now);
}

/// A connection of an earlier burst may close long after a new one has opened.
void TcpNearEnd::on_closed(TcpConnection& c, Time) noexcept {
  context.records.flow(push).on_sender_closed(c.counters());
  if (&c != connection) return;
  note_counters();
  forget();
}

void TcpNearEnd::forget() noexcept {
  connection = nullptr;
  flow = {};
}

/// Adds the counts of the connection since the last call to the burst's record.
void TcpNearEnd::note_counters() noexcept {
  const std::uint64_t rtos_before = rtos_, retransmitted_before = retransmitted_;
  read_counters();
  BurstRecord& record = context.records.burst(push.worker, iteration, BurstDirection::kPush);
  record.rtos += static_cast<std::uint32_t>(rtos_ - rtos_before);
  record.retransmitted += static_cast<std::uint32_t>(retransmitted_ - retransmitted_before);
}

void TcpNearEnd::read_counters() noexcept {
  const TcpCounters& c = connection->counters();
  rtos_ = c.rtos_data + c.rtos_handshake;
  retransmitted_ = c.retransmitted;
}

TcpFarEnd::TcpFarEnd(const ExchangeContext& c, std::uint32_t worker, std::uint32_t target)
    : context(c),
      pull{worker, target, BurstDirection::kPull},
      host(c.setup.end(worker, target)),
      pushes(c, {worker, target, BurstDirection::kPush}) {}

Acceptor::Offer TcpFarEnd::offer() noexcept {
  return {.config = &context.setup.tcp,
          .listener = this,
          .option_bytes = kBurstOptionBytes,
          .owner = context.setup.owner(pull.worker),
          .nic_class = context.setup.nic_class(pull.target)};
}

void TcpFarEnd::begin_pull(const BurstLedger& burst, Time now) noexcept {
  if (connection == nullptr) return;  // the worker is gone: its burst stays incomplete
  extent = next_extent(context, pull, *connection);
  begin_burst(*connection, host, burst, BurstTime::kOthers, now);
}

void TcpFarEnd::on_established(TcpConnection& c, Time) noexcept {
  connection = &c;
  pushes.restart();
  if (hears_acknowledged(context, pull)) c.application().tell_acknowledged();
  context.records.flow({pull.worker, pull.target, BurstDirection::kPush}).on_new_receiver();
}

void TcpFarEnd::on_delivered(TcpConnection& c, Time now) noexcept {
  if (&c == connection && !pushes.deliver(c.receiver().delivered_bytes(), now))
    refuse(context, c, host, now);
}

void TcpFarEnd::on_acknowledged(TcpConnection& c, std::uint64_t bytes, Time now) noexcept {
  if (&c == connection) tg::on_acknowledged(context, pull, extent, c, bytes, now);
}

void TcpFarEnd::on_closed(TcpConnection& c, Time) noexcept {
  context.records.flow(pull).on_sender_closed(c.counters());
  if (&c == connection) connection = nullptr;
}

}  // namespace outrider::tg
