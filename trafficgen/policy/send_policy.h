#pragma once

#include <cstdint>
#include <optional>

#include "common/core/clock.h"

namespace outrider::tg {

/// A unit of gradients that become ready together and go to one target: a tensor, the part of it
/// that one server holds, or a partition of that part.
struct GradientPiece {
  std::uint32_t tensor = 0;  ///< in forward order; 0 is needed first
  std::uint32_t target = 0;  ///< server
  std::uint64_t bytes = 0;   ///< > 0
  std::uint32_t index = 0;   ///< position in an iteration: tensors from the last to the first
};

/// Bytes to append to the stream to a target.
struct PushSegment {
  std::uint32_t target = 0;
  std::uint64_t bytes = 0;
  std::uint32_t piece = 0;  ///< index of its piece; a whole shard has none
  bool joined = false;      ///< the next segment may leave now and belongs to the same message
};

/// Decides in which order, and when, the bytes of a worker's push, or of a server's answers to one
/// worker, are handed to the transport. The caller reports which pieces become ready and what the
/// transport has acknowledged. It asks for segments until there are none: after every such event,
/// at wake_at(), and once when the burst is released. The policy owns no connection and reads no
/// clock; `now` never decreases.
///
/// Every byte that became ready is handed out exactly once, at the latest when the last piece is
/// ready and all earlier bytes are acknowledged. What was handed out is never recalled. Not
/// thread-safe; nothing allocates after construction.
class SendPolicy {
 public:
  virtual ~SendPolicy() = default;
  /// Begins an iteration, with no piece ready. @pre all of the last iteration was handed out
  virtual void begin(Time now) noexcept = 0;
  /// @param last no other piece of this iteration follows
  virtual void on_ready(const GradientPiece& piece, bool last, Time now) noexcept = 0;
  /// The receiver has `bytes` more of the stream to `target`, in order; with a transport that
  /// tolerates loss, as much of them as it needs. Called only if needs_acknowledgments().
  virtual void on_acknowledged(std::uint32_t /*target*/, std::uint64_t /*bytes*/,
                               Time /*now*/) noexcept {}
  /// Returns the segment that may leave now, if any.
  virtual std::optional<PushSegment> next(Time now) noexcept = 0;
  /// Returns when to ask again even if nothing has happened.
  [[nodiscard]] virtual Time wake_at() const noexcept { return kNever; }
  [[nodiscard]] virtual bool needs_acknowledgments() const noexcept { return false; }
};

}  // namespace outrider::tg
