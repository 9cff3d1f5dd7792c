#include "trafficgen/background/transfer_config.h"

#include "common/config/addresses.h"

namespace outrider {

namespace {
constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 50;
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
  at.in_range("bytes", transfer.bytes, 1, kMaxBytes, "bytes");
  at.in_range("count", transfer.count, 1, kMaxCount);
  at.in_range("tcp_port", transfer.tcp_port, 1, 65535);
  at.not_negative("start", transfer.start);
  at.positive("timeout", transfer.timeout);
}

}  // namespace outrider
