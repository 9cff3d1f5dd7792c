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

/// Returns the pools, smallest pages first, without those whose numbers cannot be read.
/// @param directory  with one hugepages-<n>kB per size, of the machine or of a NUMA node
[[nodiscard]] std::vector<HugePagePool> huge_page_pools(const std::filesystem::path& directory);

}  // namespace outrider
