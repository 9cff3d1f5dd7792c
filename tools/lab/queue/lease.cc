#include "tools/lab/queue/lease.h"

#include <charconv>
#include <system_error>

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

TicketVerdict verdict_of(const Ticket& ticket, SharedTime renewed, SharedTime now,
                         const LeaseRules& rules) {
  if (now - renewed <= rules.lease) return TicketVerdict::kHeld;
  return verdict_of_failure(ticket, rules);
}

TicketVerdict verdict_of_failure(const Ticket& ticket, const LeaseRules& rules) {
  return ticket.taken < rules.takes ? TicketVerdict::kAgain : TicketVerdict::kFailed;
}

}  // namespace outrider::lab
