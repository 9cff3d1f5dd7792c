#include "switch/forwarding/lpm_table.h"

#include <rte_errno.h>
#include <rte_memory.h>

#include <algorithm>

#include "common/dpdk/eal/error.h"

namespace outrider {

LpmTable::LpmTable(const std::string& name, std::uint32_t prefixes) : name_(name) {
  const rte_lpm_config config{.max_rules = std::max(prefixes, 1U),
                              .number_tbl8s = std::max(prefixes, 1U),  // at worst one each
                              .flags = 0};
  lpm_.reset(rte_lpm_create(name.c_str(), SOCKET_ID_ANY, &config));
  if (lpm_ == nullptr) throw DpdkError("rte_lpm_create", name, rte_errno);
}

void LpmTable::insert(std::uint32_t address, unsigned length, std::uint32_t value) {
  if (length == 0) {
    default_value_ = value;
    return;
  }
  const int error = rte_lpm_add(lpm_.get(), address, static_cast<std::uint8_t>(length), value);
  if (error != 0) throw DpdkError("rte_lpm_add", name_, error);
}

}  // namespace outrider
