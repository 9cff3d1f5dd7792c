#pragma once

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <string>
#include <vector>

#include "common/config/addresses.h"
#include "switch/config/config.h"
#include "switch/config/port_index.h"
#include "switch/forwarding/prefix_table.h"

namespace outrider::sw {

/// Adds prefixes to a table. @pre they parse
inline void insert_prefixes(PrefixTable& into, const std::vector<std::string>& prefixes) {
  for (const auto& text : prefixes) {
    const auto prefix = parse_prefix(text).value;
    into.insert(prefix->address, prefix->length, 1);
  }
}

/// A set of source addresses, bound to ingress ports or to none.
class SourceFilter {
 public:
  /// @param prefixes  must parse. @param ports  of `of`, by name; empty: any
  SourceFilter(const std::vector<std::string>& prefixes, const std::vector<std::string>& ports,
               const SwitchConfig& of) {
    insert_prefixes(addresses_, prefixes);
    if (!ports.empty()) at_port_.resize(of.ports.size());
    for (const auto& name : ports) at_port_[index_of_port(of, name)] = true;
  }

  [[nodiscard]] bool lists(std::uint32_t address) const noexcept {
    return addresses_.lookup(address).has_value();
  }
  [[nodiscard]] bool covers(std::uint32_t address, std::uint32_t port) const noexcept {
    assert(at_port_.empty() || port < at_port_.size());
    return (at_port_.empty() || at_port_[port]) && lists(address);
  }

 private:
  PrefixTable addresses_;
  std::vector<bool> at_port_;  ///< by index of the port; empty: any
};

}  // namespace outrider::sw
