#pragma once

namespace outrider {

/// Tells senders whether the thing that they send to accepts packets now. Written by its owner,
/// read by senders on the same lcore.
struct Backpressure {
  bool full = false;
};

}  // namespace outrider
