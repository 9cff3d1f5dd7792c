#include "trafficgen/background/transfer.h"

#include <algorithm>
#include <cassert>

namespace outrider::tg {

namespace {
constexpr std::uint32_t kWatch = UINT32_MAX;  // timer tag; others are indices of attempts
}  // namespace

Transfer::Transfer(const Setup& setup, GoodputSeries& goodput) : setup_(setup), goodput_(goodput) {
  for (std::uint32_t i = 0; i < setup.config.count; ++i) {
    Attempt& attempt = attempts_.emplace_back(*this, i);
    if (setup.from != nullptr) attempt.sender.emplace(attempt, *setup.from, true);
    if (setup.to != nullptr) attempt.receiver.emplace(attempt, *setup.to, false);
  }
}

bool Transfer::opens() const noexcept {
  return (setup_.config.opener == Opener::kSender ? setup_.from : setup_.to) != nullptr;
}

Host& Transfer::opener_host() const noexcept {
  return setup_.config.opener == Opener::kSender ? *setup_.from : *setup_.to;
}

Host* Transfer::listening_host() const noexcept {
  return setup_.config.opener == Opener::kSender ? setup_.to : setup_.from;
}

Transfer::End* Transfer::Attempt::opener_end() noexcept {
  auto& end = transfer.setup_.config.opener == Opener::kSender ? sender : receiver;
  return end ? &*end : nullptr;
}

Transfer::End* Transfer::Attempt::listener_end() noexcept {
  auto& end = transfer.setup_.config.opener == Opener::kSender ? receiver : sender;
  return end ? &*end : nullptr;
}

void Transfer::schedule() {
  if (Host* host = listening_host()) host->connections().listen(setup_.config.tcp_port, *this);
  const Time start = Time{} + setup_.config.start;
  for (Attempt& attempt : attempts_) attempt.progress_at = start;
  Host& host = setup_.from != nullptr ? *setup_.from : *setup_.to;
  host.set_timer(*this, kWatch, start);
  if (opens()) opener_host().set_timer(*this, 0, start);
}

void Transfer::on_timer(std::uint32_t tag, Time now) noexcept {
  if (tag == kWatch) watch(now);
  else open(attempts_[tag], now);
}

// -- connections

void Transfer::open(Attempt& attempt, Time now) noexcept {
  End& e = *attempt.opener_end();
  const bool to_receiver = setup_.config.opener == Opener::kSender;
  const FlowKey flow{e.host.address(), to_receiver ? setup_.to_address : setup_.from_address,
                     e.host.ports().next(), setup_.config.tcp_port};
  attempt.outcome = Outcome::kRunning;
  attempt.opened = now;
  attempt.progress_at = now;
  e.connection = &e.host.open(flow, setup_.tcp, 0, e, now);
  begun_ = attempt.index + 1;
}

/// Returns the attempt that a connection to the listening end would be; nullptr if none.
/// @param flow in the opener's direction
Transfer::Attempt* Transfer::attempt_of(const FlowKey& flow) noexcept {
  if (opens()) {
    if (begun_ == 0) return nullptr;
    Attempt& last = attempts_[begun_ - 1];
    const TcpConnection* const opened = last.opener_end()->connection;
    return opened != nullptr && opened->flow() == flow ? &last : nullptr;
  }
  const bool to_receiver = setup_.config.opener == Opener::kSender;
  if (flow.source_address != (to_receiver ? setup_.from_address : setup_.to_address))
    return nullptr;
  return begun_ == attempts_.size() ? nullptr : &attempts_[begun_];
}

Acceptor::Offer Transfer::accept(const FlowKey& flow) noexcept {
  if (attempt_of(flow) == nullptr) return {};
  return {.config = &setup_.tcp, .listener = &door_};
}

/// More may have come to the door than there are attempts.
void Transfer::Door::on_established(TcpConnection& c, Time now) noexcept {
  Attempt* const attempt = transfer.attempt_of(c.flow().reversed());
  if (attempt == nullptr) return transfer.listening_host()->abort(c, now);
  if (!transfer.opens()) ++transfer.begun_;
  End& end = *attempt->listener_end();
  end.connection = &c;
  c.application().hand_over(end);
  end.on_established(c, now);
}

void Transfer::End::on_established(TcpConnection& c, Time now) noexcept {
  Attempt& a = attempt;
  if (!a.was_established) {
    a.was_established = true;
    a.established = now;
    a.progress_at = now;
    if (a.outcome == Outcome::kWaiting) {  // opened from outside
      a.outcome = Outcome::kRunning;
      a.opened = now;
    }
  }
  if (!sends) return;
  host.send(c, a.transfer.setup_.config.bytes, now);
  host.close(c, now);
  closing = true;
}

void Transfer::End::on_delivered(TcpConnection& c, Time now) noexcept {
  if (sends) return;
  Attempt& a = attempt;
  const std::uint64_t total = c.receiver().delivered_bytes();
  a.transfer.goodput_.add(TrafficClass::kBackground, total - a.delivered, now);
  a.delivered = total;
  if (closing || total < a.transfer.setup_.config.bytes) return;
  closing = true;
  host.close(c, now);
}

void Transfer::End::on_closed(TcpConnection& c, Time now) noexcept {
  final_bytes = progress();
  last = c.counters();
  connection = nullptr;
  attempt.transfer.on_end_closed(*this, c, now);
}

void Transfer::on_end_closed(End& e, TcpConnection& c, Time now) noexcept {
  Attempt& a = e.attempt;
  if (a.over()) return;
  if (c.state() == ConnectionState::kReset)
    return end(a, a.was_established ? Outcome::kReset : Outcome::kRefused, now);
  if (!e.sends && c.receiver().delivered_bytes() != setup_.config.bytes)
    return end(a, Outcome::kWrongLength, now);
  const bool both = (!a.sender || a.sender->connection == nullptr) &&
                    (!a.receiver || a.receiver->connection == nullptr);
  if (both) end(a, Outcome::kCompleted, now);
}

void Transfer::end(Attempt& a, Outcome outcome, Time now) noexcept {
  assert(!a.over() && outcome > Outcome::kRunning);
  a.outcome = outcome;
  a.ended = now;
  ++ended_;
  const std::uint32_t next = a.index + 1;
  if (opens() && next < attempts_.size()) opener_host().set_timer(*this, next, now);
}

// -- progress

/// Checks what no callback reports: acknowledged bytes, a stream that ended too soon, and missing
/// progress. It runs at most a quarter of the timeout late.
void Transfer::watch(Time now) noexcept {
  for (Attempt& attempt : attempts_)
    if (!attempt.over()) look_at(attempt, now);
  if (finished()) return;
  Host& host = setup_.from != nullptr ? *setup_.from : *setup_.to;
  host.set_timer(*this, kWatch, now + std::max(setup_.config.timeout / 4, Duration{1}));
}

void Transfer::look_at(Attempt& a, Time now) noexcept {
  if (opens() && a.outcome == Outcome::kWaiting) return;  // its turn has not come
  const End* e = a.receiver ? &*a.receiver : &*a.sender;
  const std::uint64_t progress = e->progress();
  if (progress != a.progress) {
    a.progress = progress;
    a.progress_at = now;
  }
  const bool short_stream = !e->sends && e->connection != nullptr &&
                            e->connection->receiver().fin_received() &&
                            progress != setup_.config.bytes;
  if (short_stream) return end(a, Outcome::kWrongLength, now);
  if (now - a.progress_at >= setup_.config.timeout) end(a, Outcome::kTimedOut, now);
}

void Transfer::fill(std::vector<TransferReport>& reports) const {
  for (const Attempt& a : attempts_) {
    TransferReport r;
    r.name = setup_.config.name;
    r.index = a.index;
    r.outcome = name_of(a.outcome);
    r.bytes = setup_.config.bytes;
    r.delivered = a.receiver ? a.receiver->progress() : a.sender->progress();
    if (a.outcome != Outcome::kWaiting) r.opened_ns = a.opened.time_since_epoch().count();
    if (a.was_established) r.established_ns = a.established.time_since_epoch().count();
    if (a.over()) r.ended_ns = a.ended.time_since_epoch().count();
    const TcpCounters& sent = a.sender ? a.sender->counters() : a.receiver->counters();
    r.retransmitted = sent.retransmitted;
    r.rtos_data = sent.rtos_data;
    r.rtos_handshake = sent.rtos_handshake;
    r.fast_recoveries = sent.fast_recoveries;
    r.ece_reductions = sent.ece_reductions;
    const TcpCounters& received = a.receiver ? a.receiver->counters() : a.sender->counters();
    r.ce_received = received.ce_received;
    r.out_of_order_received = received.out_of_order_received;
    r.duplicates_received = received.duplicates_received;
    reports.push_back(std::move(r));
  }
}

}  // namespace outrider::tg
