#pragma once

#include <cstdint>
#include <string>

namespace outrider::tg {

/// The state of a sending connection at an instant.
struct ConnectionSample {
  std::int64_t at_ns = 0;
  std::string host;  ///< that sends
  std::uint16_t source_port = 0;
  std::uint16_t destination_port = 0;
  std::uint32_t mss_bytes = 0;
  std::uint32_t cwnd_bytes = 0;
  std::uint32_t ssthresh_bytes = 0;
  std::uint32_t in_flight_bytes = 0;
  std::uint64_t acked_bytes = 0;
  std::int64_t srtt_ns = 0;         ///< 0: no sample yet
  std::uint64_t retransmitted = 0;  ///< segments so far, as the next three
  std::uint64_t rtos_data = 0;
  std::uint64_t fast_recoveries = 0;
  std::uint64_t ece_reductions = 0;
};

}  // namespace outrider::tg
