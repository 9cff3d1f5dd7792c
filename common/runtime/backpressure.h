#pragma once

namespace outrider {

/// Tells those who send that what they send into takes no more for now. Written by
/// its owner, read by senders on the same lcore.
struct Backpressure {
  bool full = false;
};

}  // namespace outrider
