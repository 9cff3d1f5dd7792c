#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "trafficgen/transport/memory/reassembly.h"

namespace outrider::tg {

/// An acknowledgment that is still due for an earlier ECE state of the per-packet echo.
struct EarlierAck {
  std::uint64_t next;
  bool ece;
};

/// State that a receiver needs only while data is out of order, a duplicate is to be reported or
/// earlier acknowledgments of the per-packet echo wait. Borrowed from TransportMemory.
struct Disorder {
  static constexpr std::size_t kEarlierAcks = 16;

  Disorder() noexcept {}  // not = default: entries are left untouched until used
  [[nodiscard]] bool unused() const noexcept {
    return reassembly.empty() && earlier_used == 0 && duplicate.begin == duplicate.end;
  }

  /// A duplicate that the next ACK reports (D-SACK, RFC 2883); if empty, there is none.
  struct Duplicate {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
  } duplicate;
  std::size_t earlier_used = 0;
  std::array<EarlierAck, kEarlierAcks> earlier;
  Reassembly reassembly;
};

}  // namespace outrider::tg
