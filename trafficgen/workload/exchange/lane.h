#pragma once

#include <cstdint>

#include "common/core/burst_identity.h"

namespace outrider::tg {

/// One direction between a worker and one of its targets (a server, or another worker of a
/// collective without servers). Pushes leave the worker, pulls come back to it.
struct Lane {
  std::uint32_t worker = 0;
  std::uint32_t target = 0;
  BurstDirection direction = BurstDirection::kPush;
  bool operator==(const Lane&) const = default;
};

}  // namespace outrider::tg
