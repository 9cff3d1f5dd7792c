#pragma once

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/net/roce.h"

namespace outrider::tg {

/// Selective repeat at the responder: packets that have arrived behind a gap, and the NAKs that
/// name them. The window is a ring that PSNs index. Nothing allocates after construction.
class ReorderWindow {
 public:
  /// What is needed of a packet when its turn comes.
  struct Early {
    std::uint32_t length_bytes = 0;   ///< RETH
    std::uint16_t payload_bytes = 0;  ///< 0: the packet has not arrived
    roce::Opcode opcode{};
    bool asks = false;
  };

  /// @param window_packets 0: no selective repeat
  explicit ReorderWindow(std::uint32_t window_packets)
      : window_packets_(window_packets),
        early_(window_packets == 0 ? 0 : std::bit_ceil(window_packets)),
        told_(early_.size()) {}

  [[nodiscard]] bool enabled() const noexcept { return window_packets_ != 0; }
  /// @param ahead of the packet that is expected
  [[nodiscard]] bool reaches(std::uint32_t ahead) const noexcept { return ahead < window_packets_; }
  [[nodiscard]] std::uint32_t kept() const noexcept { return kept_; }
  [[nodiscard]] bool has(std::uint32_t psn) const noexcept { return at(psn).payload_bytes != 0; }

  /// @pre !has(m.psn), and the window reaches it
  void keep(const roce::Message& m) noexcept {
    early_[place(m.psn)] = {m.length_bytes, m.payload_bytes, m.opcode, m.asks};
    ++kept_;
  }
  /// Returns the packet and forgets it. @pre has(psn)
  Early take(std::uint32_t psn) noexcept {
    const Early early = at(psn);
    early_[place(psn)] = {};
    if (--kept_ == 0) naks_ = 0;  // there is no gap left to tell of
    return early;
  }

  /// Forgets all packets and NAKs, as the requester has abandoned what they belong to.
  void clear() noexcept {
    if (kept_ != 0) std::ranges::fill(early_, Early{});
    kept_ = 0;
    naks_ = 0;
  }

  /// A NAK is to say that the packet has come. More than a window of them are not remembered.
  void tell(std::uint32_t psn) noexcept {
    if (naks_ < told_.size()) told_[(first_nak_ + naks_++) & (told_.size() - 1)] = psn;
  }
  [[nodiscard]] bool has_nak() const noexcept { return naks_ != 0; }
  /// Returns the packet that the next NAK names. @pre has_nak()
  std::uint32_t next_nak() noexcept {
    assert(has_nak());
    --naks_;
    return told_[first_nak_++ & (told_.size() - 1)];
  }

 private:
  [[nodiscard]] std::size_t place(std::uint32_t psn) const noexcept {
    return psn & (early_.size() - 1);  // PSNs wrap at a multiple of the ring's length
  }
  [[nodiscard]] const Early& at(std::uint32_t psn) const noexcept { return early_[place(psn)]; }

  std::uint32_t window_packets_;
  std::uint32_t kept_ = 0;
  std::uint32_t naks_ = 0;
  std::uint32_t first_nak_ = 0;      ///< free-running
  std::vector<Early> early_;         ///< by PSN
  std::vector<std::uint32_t> told_;  ///< PSNs that NAKs are to name, in a ring
};

}  // namespace outrider::tg
