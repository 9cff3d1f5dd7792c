#pragma once

#include <cstdint>

namespace outrider {

/// Kinds of TCP options, from IANA's "TCP Option Kind Numbers".
enum TcpOptionKind : std::uint8_t {
  kEndOfList = 0,
  kNoOperation = 1,
  kMaximumSegmentSize = 2,  ///< RFC 9293, 3.2
  kWindowScale = 3,         ///< RFC 7323, 2
  kSackPermitted = 4,       ///< RFC 2018, 2
  kSack = 5,                ///< RFC 2018, 3
  kTimestamps = 8,          ///< RFC 7323, 3.2
  kMd5 = 19,                ///< RFC 2385, 3.0
  kAuthentication = 29,     ///< RFC 5925, 2.2
};

inline constexpr std::uint32_t kWindowScaleBytes = 3;  ///< including kind and length
inline constexpr std::uint8_t kMaxWindowScale = 14;    ///< RFC 7323, 2.3: replaces a larger one

}  // namespace outrider
