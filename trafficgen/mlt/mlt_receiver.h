#pragma once

#include <cstdint>
#include <vector>

#include "common/core/burst_identity.h"
#include "common/net/mlt_message.h"
#include "trafficgen/core/fifo.h"
#include "trafficgen/mlt/mlt_tensor.h"
#include "trafficgen/mlt/packet_set.h"

namespace outrider::tg {

/// The receiving end of a flow of the bounded-loss transport. It counts what arrives of each tensor
/// of a burst, and sends STOP once no more than the tolerated share is missing.
///
/// It has no clock and no timer: each of its messages answers one that arrived. The loss of a STOP
/// or BITMAP does no harm, because the sender probes again, and data of a satisfied tensor is
/// answered by a FEEDBACK that says so. Bursts follow one another; all tensors of a burst before
/// the current one count as satisfied. The order of arrival does not matter. Packets of a satisfied
/// tensor are taken as long as the burst is not complete.
///
/// Source: MLT (NSDI 2024) and DLCP (arXiv 2008.08445): count, Stop, Probe, Bitmap. Deviations:
/// answers are datagrams, see docs/decisions/014; a bitmap is sent in parts of 192 packets, and
/// parts in which nothing is missing are left out.
///
/// Nothing allocates after construction. Not thread-safe.
class MltReceiver {
 public:
  struct Setup {
    std::vector<MltTensor> tensors;      ///< none: an end that only sends
    std::uint32_t packet_bytes = 0;      ///< see MltLayout
    std::uint32_t feedback_packets = 2;  ///< DATA from one FEEDBACK to the next, > 0
  };
  explicit MltReceiver(const Setup& setup);

  /// Begins to receive this burst.
  void begin(const BurstIdentity& burst) noexcept;

  /// The effect of a DATA or PROBE.
  struct Event {
    bool refused = false;    ///< it belongs to no agreed burst or place
    bool satisfied = false;  ///< its tensor needs no more from now on
    bool complete = false;   ///< and this was the last tensor of the burst
    std::uint32_t new_bytes = 0;
  };
  /// @param message DATA or PROBE  @param ce the datagram was marked CE
  Event on_message(const mlt::Message& message, bool ce) noexcept;

  [[nodiscard]] bool has_answer() const noexcept { return feedback_due_ || !answers_.empty(); }
  /// @pre has_answer()
  [[nodiscard]] mlt::Message next_answer() noexcept;

  // -- of the current burst
  [[nodiscard]] bool complete() const noexcept { return satisfied_ == tensors_.size(); }
  [[nodiscard]] bool satisfied(std::uint32_t tensor) const noexcept {
    return tensors_[tensor].satisfied;
  }
  [[nodiscard]] std::uint64_t delivered_bytes() const noexcept { return delivered_bytes_; }
  [[nodiscard]] std::uint64_t delivered_bytes(std::uint32_t tensor) const noexcept {
    return tensors_[tensor].delivered_bytes;
  }
  /// @param on_missing is called with (offset, length) [bytes] of every part of the tensor that has
  ///   not arrived, from the first to the last
  template <class F>
  void for_each_missing(std::uint32_t tensor, F&& on_missing) const {
    const Tensor& t = tensors_[tensor];
    std::uint32_t begin = t.arrived.next_absent(0);
    while (begin < t.layout.packets()) {
      const std::uint32_t end = t.arrived.next(begin);
      const std::uint64_t stop = end < t.layout.packets() ? t.layout.offset(end) : t.layout.bytes();
      on_missing(t.layout.offset(begin), stop - t.layout.offset(begin));
      begin = t.arrived.next_absent(end);
    }
  }

  // -- of the flow
  struct Counters {
    std::uint64_t data = 0;       ///< packets that arrived
    std::uint64_t duplicate = 0;  ///< of these, repeated ones
    std::uint64_t late = 0;       ///< of these, for a burst that was complete
    std::uint64_t marked = 0;     ///< of these, with CE
  };
  [[nodiscard]] const Counters& counters() const noexcept { return counters_; }

 private:
  /// The answer that is due about a tensor; for an earlier burst it is always STOP.
  struct Answer {
    bool queued = false;
    std::uint32_t iteration = 0;
    std::uint32_t probe = 0;
    std::uint32_t next_packet = 0;
  };
  struct Tensor {
    MltLayout layout;
    std::uint64_t tolerated_bytes;
    PacketSet arrived;
    std::uint64_t delivered_bytes = 0;
    bool satisfied = false;
    Answer answer{};
  };

  Event on_data(const mlt::Message& m, bool ce) noexcept;
  Event on_probe(const mlt::Message& m) noexcept;
  void note_arrival(const mlt::Message& m, bool earlier) noexcept;
  void answer(std::uint32_t tensor, const mlt::Message& asked) noexcept;
  [[nodiscard]] mlt::Message feedback() noexcept;
  [[nodiscard]] mlt::Message bitmap(std::uint32_t tensor, std::uint32_t from) const noexcept;

  std::uint32_t feedback_packets_;
  std::vector<Tensor> tensors_;
  BurstIdentity burst_{};
  std::uint32_t satisfied_ = 0;
  std::uint64_t delivered_bytes_ = 0;
  Fifo<std::uint32_t> answers_;  ///< tensors, each at most once

  // Contents of FEEDBACK
  std::uint32_t seen_bytes_ = 0;
  std::uint32_t received_bytes_ = 0;
  std::uint32_t marked_bytes_ = 0;
  std::uint32_t data_untold_ = 0;  ///< packets since the last FEEDBACK
  bool feedback_due_ = false;
  mlt::Message told_about_{};  ///< the newest that arrived
  bool told_stopped_ = false;
  Counters counters_;
};

}  // namespace outrider::tg
