#include "trafficgen/background/transfer_config.h"

#include "common/config/addresses.h"
#include "trafficgen/hosts/ephemeral_ports.h"

namespace outrider::tg {

namespace {
constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 50;
/// Hosts give the numbers above to queue pairs whose both ends are in the process.
constexpr std::uint64_t kLastChosenQueuePair = kFirstEphemeralPort - 1;
constexpr std::uint64_t kMaxCount = 10'000;  ///< well within a host's ephemeral ports

void check_end(const Checks& at, std::string_view key, const std::string& end, bool is_host) {
  if (is_host) return;
  if (end.find_first_not_of("0123456789.") != std::string::npos)
    at.fault(key, Checks::quoted(end), "no [[host]] has this name, and it is no IPv4 address");
  else at.parses(key, end, parse_ipv4(end));
}
}  // namespace

void check(const Checks& at, const TransferConfig& transfer, bool from_is_host, bool to_is_host) {
  check_end(at, "from", transfer.from, from_is_host);
  check_end(at, "to", transfer.to, to_is_host);
  at.require(from_is_host || to_is_host, "to", Checks::quoted(transfer.to),
             "one of from and to must be a [[host]]");
  at.require(transfer.from != transfer.to, "to", Checks::quoted(transfer.to),
             "must be another host than the sender");
}

void describe(Settings& v, TransferConfig& c) {
  v.value("name", c.name, {.required = true, .accepts = "unique"});
  v.value("from", c.from,
          {.required = true,
           .accepts = "name of a host, or an IPv4 address; at least one a host",
           .help = "sender and receiver"});
  v.value("to", c.to,
          {.required = true,
           .accepts = "name of a host, or an IPv4 address; at least one a host",
           .help = "sender and receiver"});
  v.bytes("bytes", c.bytes,
          {.required = true,
           .range = integers(1, kMaxBytes, "bytes"),
           .help = "of one transfer; a receiver that gets another number says `wrong_length`"});
  v.value("count", c.count, {.range = integers(1, kMaxCount), .help = "transfers"});
  v.value("transport", c.transport, {.required = true, .accepts = "name of a `[[transport]]`"});
  v.choice("opener", c.opener, kOpeners, {.help = "which end connects; the other listens"});
  v.value("tcp_port", c.tcp_port, {.range = integers(1, 65535), .help = "of the end that listens"});
  v.duration("start", c.start, {.range = durations_from(Duration::zero())});
  v.duration("timeout", c.timeout,
             {.range = durations_above_zero(),
              .help = "without a byte of progress, then it is `timed_out`"});
  v.table("queue_pair", c.queue_pair);
}

void describe(Settings& v, QueuePairNumbers& c) {
  constexpr std::uint64_t kMost24Bits = 0xFFFFFF;
  v.value("own", c.own,
          {.range = integers(0, kLastChosenQueuePair),
           .help = "number of the queue pair here, from 2 on, and the key of its memory, whose "
                   "first byte has address 0"});
  v.value("own_first_psn", c.own_first_psn,
          {.range = integers(0, kMost24Bits), .help = "PSN of the first packet from here"});
  v.value("peer", c.peer,
          {.range = integers(0, kMost24Bits), .help = "number of the queue pair outside"});
  v.value("peer_first_psn", c.peer_first_psn,
          {.range = integers(0, kMost24Bits), .help = "PSN of the first packet from outside"});
  v.value("peer_key", c.peer_key, {.help = "of the memory outside, for `operation = \"write\"`"});
  v.value("peer_address", c.peer_address,
          {.help = "of that memory, where the first byte of the first transfer goes"});
}

}  // namespace outrider::tg
