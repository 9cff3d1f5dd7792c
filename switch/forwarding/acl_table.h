#pragma once

#include <rte_acl.h>

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common/core/flow_key.h"

namespace outrider {

/// Finds the first matching rule of a list of rules on the 5-tuple. rte_acl compiles the rules
/// into a trie, so a lookup costs the same for one rule and for thousands.
///
/// Built once at start-up; classify() is const and does not allocate. Needs an
/// initialised EAL.
class AclTable {
 public:
  /// A rule. A field that keeps its default matches everything.
  struct Rule {
    bool ipv4_only = false;                       ///< must be set if an address is given
    std::uint32_t source = 0, source_length = 0;  ///< IPv4 prefix, host byte order
    std::uint32_t destination = 0, destination_length = 0;
    bool any_protocol = true;
    std::uint8_t protocol = 0;
    std::uint16_t source_port_first = 0, source_port_last = UINT16_MAX;
    std::uint16_t destination_port_first = 0, destination_port_last = UINT16_MAX;
  };

  /// The packet fields that are looked up, in network byte order, as rte_acl reads them.
  struct Key {
    std::uint8_t protocol = 0;
    std::array<std::uint8_t, 3> unused{};
    std::uint32_t source = 0, destination = 0;
    std::uint16_t source_port = 0, destination_port = 0;
    std::uint32_t family = 0;
  };
  static_assert(sizeof(Key) == 20);

  static Key key_of(const FlowKey& flow, std::uint8_t protocol, bool ipv4) noexcept {
    return {.protocol = protocol,
            .source = __builtin_bswap32(flow.source_address),
            .destination = __builtin_bswap32(flow.destination_address),
            .source_port = __builtin_bswap16(flow.source_port),
            .destination_port = __builtin_bswap16(flow.destination_port),
            .family = __builtin_bswap32(ipv4 ? kIpv4 : kOtherFamily)};
  }

  /// @param name unique in the process. @param rules 1 to 4096; the first match wins
  /// @throws DpdkError
  AclTable(const std::string& name, const std::vector<Rule>& rules);

  /// @param out [keys.size()]: index of the first rule that matches plus one, or 0
  void classify(std::span<const Key> keys, std::span<std::uint32_t> out) const noexcept;

  [[nodiscard]] std::uint32_t classify(const Key& key) const noexcept {
    std::uint32_t result = 0;
    classify({&key, 1}, {&result, 1});
    return result;
  }

 private:
  static constexpr std::uint32_t kIpv4 = 4, kOtherFamily = 6;
  static constexpr std::size_t kMaxBatch = 64;

  struct Deleter {
    void operator()(rte_acl_ctx* context) const noexcept { rte_acl_free(context); }
  };
  std::unique_ptr<rte_acl_ctx, Deleter> context_;
};

}  // namespace outrider
