#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>

#include "common/core/fifo.h"

namespace outrider::tg {

/// Which bytes of a TCP stream are which piece: the sender says what it appends, the
/// receiver in the same process asks what has arrived. Not thread-safe; nothing allocates
/// as long as no more than `pieces` are under way.
class PieceStream {
 public:
  explicit PieceStream(std::size_t pieces) : pieces_(pieces) {}

  /// The next `bytes` > 0 of the stream are piece `piece`.
  void append(std::uint32_t piece, std::uint64_t bytes) {
    end_ += bytes;
    pieces_.push({piece, end_});
  }
  /// @param delivered_bytes of the stream, in all; does not decrease
  /// @param on_piece called with every piece whose last byte is now there, in order
  template <class F>
  void deliver(std::uint64_t delivered_bytes, F&& on_piece) {
    assert(delivered_bytes <= end_);
    while (!pieces_.empty() && pieces_.peek().end <= delivered_bytes) on_piece(pieces_.pop().piece);
  }
  /// A stream that begins anew: nothing is under way.
  void clear() noexcept {
    while (!pieces_.empty()) (void)pieces_.pop();
    end_ = 0;
  }

 private:
  struct Entry {
    std::uint32_t piece = 0;
    std::uint64_t end = 0;  ///< stream offset behind its last byte
  };
  Fifo<Entry> pieces_;
  std::uint64_t end_ = 0;
};

}  // namespace outrider::tg
