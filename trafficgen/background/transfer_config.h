#pragma once

#include <cstdint>
#include <string>

#include "common/config/checks.h"
#include "common/config/config_binding.h"
#include "common/core/clock.h"

namespace outrider::tg {

/// The end that opens the connection.
enum class Opener : std::uint8_t { kSender, kReceiver };

/// [transfer.queue_pair]: a reliable connection of RoCEv2 with a host outside the process. There is
/// no connection management: the ends are told each other's numbers before the run.
struct QueuePairConfig {
  std::uint32_t own = 0;             ///< number here, and the key of the memory; 0: no table
  std::uint32_t own_first_psn = 0;   ///< of what is sent here, 24 bits
  std::uint32_t peer = 0;            ///< number at the host outside, 24 bits
  std::uint32_t peer_first_psn = 0;  ///< of what it sends
  std::uint32_t peer_key = 0;        ///< of its memory (R_Key), for WRITEs
  std::uint64_t peer_address = 0;    ///< where the first byte goes in its memory

  bool operator==(const QueuePairConfig&) const = default;
};

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
  QueuePairConfig queue_pair{};
};

inline constexpr auto kOpeners =
    choices<Opener>({{"sender", Opener::kSender}, {"receiver", Opener::kReceiver}});

void describe(Settings& v, TransferConfig& c);
void describe(Settings& v, QueuePairConfig& c);

/// Checks all rules except those that refer to transports and to other users of a port.
/// @param from_is_host,to_is_host whether `from` and `to` name hosts
void check(const Checks& at, const TransferConfig& transfer, bool from_is_host, bool to_is_host);

}  // namespace outrider::tg
