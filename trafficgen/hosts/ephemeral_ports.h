#pragma once

#include <cstdint>
#include <optional>

namespace outrider::tg {

/// The first port of Linux's default net.ipv4.ip_local_port_range.
inline constexpr std::uint16_t kFirstEphemeralPort = 32768;

/// Gives out a host's source ports in turn; after 32,768 ports they repeat.
class EphemeralPorts {
 public:
  std::uint16_t next() noexcept {
    const std::uint16_t port = next_;
    next_ = next_ == UINT16_MAX ? kFirstEphemeralPort : static_cast<std::uint16_t>(next_ + 1);
    return port;
  }
  /// Returns the next port that is not taken. @return nothing if all are
  template <class Taken>
  std::optional<std::uint16_t> next_free(Taken taken) noexcept {
    constexpr std::uint32_t kPorts = 65536 - kFirstEphemeralPort;
    for (std::uint32_t tries = 0; tries < kPorts; ++tries)
      if (const std::uint16_t port = next(); !taken(port)) return port;
    return std::nullopt;
  }

 private:
  std::uint16_t next_ = kFirstEphemeralPort;
};

}  // namespace outrider::tg
