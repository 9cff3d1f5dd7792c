#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>

#include "trafficgen/core/fifo.h"

namespace outrider::tg {

/// Maps the bytes of a TCP stream to pieces. The sender states which piece it appends, and the
/// receiver in the same process asks which pieces have arrived. Not thread-safe; nothing allocates
/// while at most `pieces` are in flight.
class PieceStream {
 public:
  explicit PieceStream(std::size_t pieces) : pieces_(pieces) {}

  /// Appends piece `piece` as the next `bytes` > 0 of the stream.
  void append(std::uint32_t piece, std::uint64_t bytes) {
    end_ += bytes;
    pieces_.push({piece, end_});
  }
  /// @param delivered_bytes delivered of the stream in total; does not decrease
  /// @param on_piece called, in order, with every piece whose last byte has now arrived
  template <class F>
  void deliver(std::uint64_t delivered_bytes, F&& on_piece) {
    assert(delivered_bytes <= end_);
    while (!pieces_.empty() && pieces_.peek().end <= delivered_bytes) on_piece(pieces_.pop().piece);
  }
  /// Forgets all pieces in flight, for a stream that begins anew.
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
