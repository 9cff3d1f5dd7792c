#pragma once

#include <cstdint>
#include <optional>

#include "common/core/clock.h"

namespace outrider::tg {

/// Gradients that become ready together and go to one target: a tensor, or the
/// part of it that one server holds, or a partition of that.
struct GradientPiece {
  std::uint32_t tensor = 0;  ///< in forward order; 0 is needed first
  std::uint32_t target = 0;  ///< server
  std::uint64_t bytes = 0;   ///< > 0
  std::uint32_t index = 0;   ///< position in Job::pieces(): tensors from the last to the first
};

/// Bytes to append to the stream to a target.
struct PushSegment {
  std::uint32_t target = 0;
  std::uint64_t bytes = 0;
  std::uint32_t piece = 0;  ///< index of the piece that it is; a whole shard has none
};

/// Decides in which order, and when, the bytes of a worker's push, or of a server's
/// answers to one worker, are handed to the transport. The participant tells it what
/// becomes ready and what the transport has acknowledged, and asks for segments after
/// every such event, at wake_at(), and once when the burst is released, until there is
/// none. It owns no connection and reads no clock; `now` never decreases.
///
/// Every byte that became ready is handed out exactly once by the time that the last
/// piece has and all has been acknowledged. What was handed out is never recalled.
/// Not thread-safe; nothing allocates after construction.
class SendPolicy {
 public:
  virtual ~SendPolicy() = default;
  /// A new iteration: nothing is ready, and all of the last was handed out.
  virtual void begin(Time now) noexcept = 0;
  /// @param last no other piece of this iteration follows
  virtual void on_ready(const GradientPiece& piece, bool last, Time now) noexcept = 0;
  /// The transport has `bytes` more of the stream to `target` acknowledged, in order; one that
  /// tolerates loss, enough of them. Called only if needs_acknowledgments().
  virtual void on_acknowledged(std::uint32_t /*target*/, std::uint64_t /*bytes*/,
                               Time /*now*/) noexcept {}
  /// What may leave now, if anything.
  virtual std::optional<PushSegment> next(Time now) noexcept = 0;
  /// When to ask again although nothing has happened.
  [[nodiscard]] virtual Time wake_at() const noexcept { return kNever; }
  [[nodiscard]] virtual bool needs_acknowledgments() const noexcept { return false; }
};

}  // namespace outrider::tg
