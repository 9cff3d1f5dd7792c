#include "tools/lab/queue/lease.h"

#include <charconv>
#include <system_error>
#include <utility>

namespace outrider::lab {
namespace {

constexpr std::string_view kTaken = "-taken";
constexpr std::size_t kIndexDigits = 5;  // at least; so that `ls` sorts

/// Reads a number from the beginning of `text`, and removes it. @return whether there was one
template <class Number>
bool take_number(std::string_view& text, Number& into) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), into);
  if (error != std::errc{}) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

}  // namespace

std::string file_name(const Ticket& ticket) {
  std::string index = std::to_string(ticket.index);
  if (index.size() < kIndexDigits) index.insert(0, kIndexDigits - index.size(), '0');
  std::string name = index + std::string(kTaken) + std::to_string(ticket.taken);
  return ticket.worker.empty() ? name : name + '@' + ticket.worker;
}

std::optional<Ticket> ticket_from(std::string_view name) {
  Ticket ticket;
  std::string_view rest = name;
  if (!take_number(rest, ticket.index) || !rest.starts_with(kTaken)) return std::nullopt;
  rest.remove_prefix(kTaken.size());
  if (!take_number(rest, ticket.taken)) return std::nullopt;
  if (rest.starts_with('@')) ticket.worker = rest.substr(1);
  if (file_name(ticket) != name) return std::nullopt;
  return ticket;
}

TicketVerdict verdict_of(const Ticket& ticket, const LeaseRules& rules) {
  return ticket.taken < rules.takes ? TicketVerdict::kAgain : TicketVerdict::kFailed;
}

std::vector<Ticket> LeaseWatch::look(const std::vector<HeldTicket>& held, Clock::time_point now) {
  std::vector<Ticket> silent;
  std::map<std::string, Seen, std::less<>> seen;
  for (const auto& [ticket, stamp] : held) {
    std::string name = file_name(ticket);
    const auto before = seen_.find(name);
    const bool same = before != seen_.end() && before->second.stamp == stamp;
    const Clock::time_point since = same ? before->second.since : now;
    if (now - since > lease_) silent.push_back(ticket);
    seen.emplace(std::move(name), Seen{stamp, since});
  }
  seen_ = std::move(seen);
  return silent;
}

}  // namespace outrider::lab
