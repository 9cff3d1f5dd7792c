#pragma once

#include <cstdint>

namespace outrider {

/// The bytes [begin, end) of a sequence counted from 0; begin < end.
struct ByteRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  bool operator==(const ByteRange&) const = default;
};

}  // namespace outrider
