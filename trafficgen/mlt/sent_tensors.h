#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "trafficgen/core/fifo.h"
#include "trafficgen/mlt/mlt_tensor.h"
#include "trafficgen/mlt/packet_set.h"

namespace outrider::tg {

/// A tensor of a burst as its sender knows it.
struct SentTensor {
  enum class Phase : std::uint8_t {
    kIdle,     ///< not handed over
    kPending,  ///< has packets to send; queued by its urgency
    kWaits,    ///< has none, and was not probed since; queued for a probe
    kProbed,
    kStopped,  ///< the receiver has enough
  };

  MltTensor what;
  MltLayout layout;
  std::uint32_t sequence;  ///< offset of its first byte in the burst
  PacketSet resend;
  std::vector<std::uint32_t> ranks{};  ///< [packets] in units of 2^-32; empty: drawn
  /// Packets in the order in which they leave, and the place of each in it; empty: front to back.
  std::vector<std::uint32_t> order{}, place{};
  std::uint32_t fresh = 0;  ///< packets that have left, of the order
  std::uint32_t probe = 0;  ///< number of the last probe
  std::uint32_t fresh_at_probe = 0;
  Phase phase = Phase::kIdle;

  [[nodiscard]] std::uint32_t place_of(std::uint32_t packet) const noexcept {
    return place.empty() ? packet : place[packet];
  }
  /// Returns the bytes of packets that never left. Only the last packet may be shorter.
  [[nodiscard]] std::uint64_t unsent_bytes() const noexcept {
    const std::uint32_t last = layout.packets() - 1;
    if (place_of(last) >= fresh) return layout.bytes() - layout.offset(fresh);
    return layout.offset(last + 1 - fresh);
  }
};

/// The tensors of a burst by their phase: which has packets to send, which waits for a probe.
/// Nothing allocates after construction. Not thread-safe.
class SentTensors {
 public:
  using Phase = SentTensor::Phase;

  SentTensors(const std::vector<MltTensor>& tensors, std::uint32_t packet_bytes);

  /// Begins the next burst: none is handed over.
  void begin() noexcept;
  /// Changes a tensor's phase.
  void enter(std::uint32_t tensor, Phase phase) noexcept;
  /// All packets of the tensor that first() returned have left.
  void all_left(std::uint32_t tensor) noexcept;
  /// Returns the first tensor of the most urgent class that has packets to send.
  /// @pre count(kPending) > 0
  [[nodiscard]] std::uint32_t first() noexcept;
  /// Returns the next tensor that waits for a probe. @pre count(kWaits) > 0
  [[nodiscard]] std::uint32_t next_to_probe() noexcept;
  /// Lets all that were probed be probed again.
  void probe_again() noexcept;

  [[nodiscard]] std::uint32_t count(Phase phase) const noexcept {
    return counts_[static_cast<std::size_t>(phase)];
  }
  [[nodiscard]] std::uint32_t size() const noexcept {
    return static_cast<std::uint32_t>(tensors_.size());
  }
  [[nodiscard]] SentTensor& operator[](std::uint32_t tensor) noexcept { return tensors_[tensor]; }
  [[nodiscard]] const SentTensor& operator[](std::uint32_t tensor) const noexcept {
    return tensors_[tensor];
  }
  /// Returns the length of a burst, modulo 2^32.
  [[nodiscard]] std::uint32_t bytes() const noexcept { return bytes_; }

 private:
  std::vector<SentTensor> tensors_;
  std::uint32_t bytes_ = 0;
  std::vector<Fifo<std::uint32_t>> pending_;  ///< [classes]; entries in another phase are stale
  Fifo<std::uint32_t> probes_;                ///< kWaits; entries in another phase are stale
  std::array<std::uint32_t, 5> counts_{};     ///< by phase
};

}  // namespace outrider::tg
