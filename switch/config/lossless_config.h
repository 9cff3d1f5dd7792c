#pragma once

#include <cstdint>
#include <optional>

#include "common/config/checks.h"
#include "common/config/config_binding.h"
#include "common/core/clock.h"
#include "common/core/pause_time.h"

namespace outrider::sw {

/// Pauses are renewed when half of them is over, by frames that leave before all data: shorter ones
/// would take more than a tenth of the link for each queue, and with 2 quanta no packet would leave
/// a port again by which it came. A frame takes 84 bytes on the wire.
inline constexpr std::uint16_t kLeastPauseQuanta = 27;
static_assert(kLeastPauseQuanta * kPauseQuantumBits / 2 >= 10 * 84 * 8);

struct SwitchConfig;
struct SwitchPortConfig;

/// Makes a queue's class lossless on the link of its port by priority flow control (PFC, IEEE
/// 802.1Qbb), see lossless_buffer.h and port_pauses.h. Bytes are frame bytes.
struct LosslessConfig {
  std::uint64_t xoff_bytes = 0;  ///< held, from which the neighbour is paused; 0 without
                                 ///< xoff_alpha: the class is lossy, and nothing below matters
  std::optional<std::uint64_t> xon_bytes{};  ///< held, from which it may go on; absent: half
  /// In place of xoff_bytes: times what is free of the shared buffer
  std::optional<double> xoff_alpha{};
  /// In place of xon_bytes: below that threshold; absent: half of it
  std::optional<std::uint64_t> xon_offset_bytes{};
  std::uint64_t headroom_bytes = 100'000;  ///< room above XOFF for what is on its way
  std::uint8_t priority = 3;               ///< in pause frames
  std::uint16_t pause_quanta = 65535;      ///< of 512 bit times that a pause asks for
  std::optional<Duration> watchdog{};      ///< longest pause without progress; absent: any

  [[nodiscard]] bool on() const noexcept { return xoff_bytes != 0 || xoff_alpha; }
  /// Memory of the port's class alone, all of it unless XOFF is dynamic. @pre on()
  [[nodiscard]] std::uint64_t own_bytes() const noexcept { return xoff_bytes + headroom_bytes; }
  /// @pre on() without xoff_alpha
  [[nodiscard]] std::uint64_t resume_bytes() const noexcept {
    return xon_bytes.value_or(xoff_bytes / 2);
  }
};

/// Returns the bytes that the lossless queues `queue` of all ports may bring: so many of them may
/// wait in that queue of one port.
std::uint64_t lossless_room_bytes(const SwitchConfig& sw, std::size_t queue);
/// Returns the memory that belongs to lossless queues alone, which the shared buffer sets aside.
std::uint64_t lossless_own_bytes(const SwitchConfig& sw);
/// Returns what queues share of the buffer. @pre it has total_bytes
std::uint64_t shared_part_bytes(const SwitchConfig& sw);
/// Returns whether a queue of the switch is lossless.
bool has_lossless(const SwitchConfig& sw);

void describe(Settings& v, LosslessConfig& c);

/// Checks the lossless queues of a port, and that its queues have room for what all ports bring.
void check_lossless(const Checks& at, const SwitchConfig& sw, const SwitchPortConfig& port);

}  // namespace outrider::sw
