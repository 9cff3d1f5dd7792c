#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace outrider {

/// Huge pages of one size.
struct HugePagePool {
  std::uint64_t page_kilobytes = 0;
  std::uint64_t pages = 0;
  std::uint64_t free = 0;
};

/// Smallest pages first. A pool whose numbers cannot be read is left out.
/// @param directory  with one hugepages-<n>kB per size: the machine's, or a node's
[[nodiscard]] std::vector<HugePagePool> huge_page_pools(const std::filesystem::path& directory);

}  // namespace outrider
