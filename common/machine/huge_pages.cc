#include "common/machine/huge_pages.h"

#include <algorithm>

#include "common/machine/machine_tree.h"

namespace outrider {

std::vector<HugePagePool> huge_page_pools(const std::filesystem::path& directory) {
  constexpr std::string_view kPrefix = "hugepages-";
  constexpr std::string_view kSuffix = "kB";
  const MachineTree tree(directory);
  std::vector<HugePagePool> pools;
  for (const auto& name : tree.names("/")) {
    if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) continue;
    const auto size = to_number(std::string_view(name).substr(
        kPrefix.size(), name.size() - kPrefix.size() - kSuffix.size()));
    const auto pages = tree.number(name + "/nr_hugepages");
    const auto free = tree.number(name + "/free_hugepages");
    if (size && free) pools.push_back({*size, pages.value_or(*free), *free});
  }
  std::sort(pools.begin(), pools.end(), [](const HugePagePool& a, const HugePagePool& b) {
    return a.page_kilobytes < b.page_kilobytes;
  });
  return pools;
}

}  // namespace outrider
