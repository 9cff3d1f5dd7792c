#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace outrider::tg {

/// The state of one end of a connection that sends, over any transport, at an instant. A member is
/// absent where the transport or its controller has no such thing, or does not know it yet.
struct ConnectionSample {
  std::int64_t at_ns = 0;
  std::string host{};       ///< that sends
  std::string peer{};       ///< the host that receives; its address, if another process has it
  std::string transport{};  ///< its protocol, as the configuration names it
  std::uint16_t source_port = 0;
  std::uint16_t destination_port = 0;
  std::uint32_t mss_bytes = 0;                            ///< payload of a full packet
  std::optional<std::uint64_t> rate_bits_per_second{};    ///< at which it paces packets
  std::optional<std::uint64_t> target_bits_per_second{};  ///< to which DCQCN raises the rate
  std::optional<std::uint32_t> cwnd_bytes{};
  std::optional<std::uint32_t> ssthresh_bytes{};
  std::optional<double> alpha{};  ///< estimate of DCTCP, Prague or DCQCN
  std::uint32_t in_flight_bytes = 0;
  std::optional<std::uint64_t> acked_bytes{};
  std::optional<std::int64_t> srtt_ns{};
  std::uint64_t retransmitted = 0;  ///< packets so far, as the next four
  std::uint64_t rtos_data = 0;      ///< time-outs
  std::optional<std::uint64_t> fast_recoveries{};
  std::optional<std::uint64_t> ece_reductions{};
  std::optional<std::uint64_t> cnps_received{};
};

}  // namespace outrider::tg
