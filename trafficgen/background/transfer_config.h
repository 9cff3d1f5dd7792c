#pragma once

#include <cstdint>
#include <string>

#include "common/config/checks.h"
#include "common/config/config_binding.h"
#include "common/core/clock.h"
#include "trafficgen/roce/queue_pair_numbers.h"

namespace outrider::tg {

/// The end that opens the connection.
enum class Opener : std::uint8_t { kSender, kReceiver };

/// Plain bulk transfers, one after another; one end may be outside the process.
struct TransferConfig {
  std::string name;
  std::string from;         ///< host name, or the IPv4 address of a host outside
  std::string to;           ///< as `from`; one of them is a host
  std::uint64_t bytes = 0;  ///< per transfer
  std::uint32_t count = 1;  ///< transfers
  std::string transport;
  Opener opener = Opener::kSender;
  std::uint16_t tcp_port = 30000;  ///< port of the listening end
  Duration start{};
  Duration timeout = std::chrono::seconds(30);  ///< without progress; then it is given up
  QueuePairNumbers queue_pair{};
};

inline constexpr auto kOpeners =
    choices<Opener>({{"sender", Opener::kSender}, {"receiver", Opener::kReceiver}});

void describe(Settings& v, TransferConfig& c);
void describe(Settings& v, QueuePairNumbers& c);

/// Checks all rules except those that refer to transports and to other users of a port.
/// @param from_is_host,to_is_host whether `from` and `to` name hosts
void check(const Checks& at, const TransferConfig& transfer, bool from_is_host, bool to_is_host);

}  // namespace outrider::tg
