#include "switch/forwarding/acl_table.h"

#include <rte_errno.h>
#include <rte_memory.h>

#include <algorithm>
#include <cassert>
#include <cstddef>

#include "common/dpdk/eal/error.h"

namespace outrider {
namespace {

enum Field : std::uint8_t {
  kProtocol,
  kSource,
  kDestination,
  kSourcePort,
  kDestinationPort,
  kFamily,
  kFields
};

RTE_ACL_RULE_DEF(RawRule, kFields);

/// rte_acl requires a field of one byte first, and then groups of four bytes per input index.
constexpr std::array<rte_acl_field_def, kFields> kFieldDefs{{
    {RTE_ACL_FIELD_TYPE_BITMASK, 1, kProtocol, 0, offsetof(AclTable::Key, protocol)},
    {RTE_ACL_FIELD_TYPE_MASK, 4, kSource, 1, offsetof(AclTable::Key, source)},
    {RTE_ACL_FIELD_TYPE_MASK, 4, kDestination, 2, offsetof(AclTable::Key, destination)},
    {RTE_ACL_FIELD_TYPE_RANGE, 2, kSourcePort, 3, offsetof(AclTable::Key, source_port)},
    {RTE_ACL_FIELD_TYPE_RANGE, 2, kDestinationPort, 3, offsetof(AclTable::Key, destination_port)},
    {RTE_ACL_FIELD_TYPE_BITMASK, 4, kFamily, 4, offsetof(AclTable::Key, family)},
}};

RawRule raw_rule(const AclTable::Rule& rule, std::uint32_t family, std::size_t index,
                 std::size_t rules) {
  RawRule raw{};
  raw.data.category_mask = 1;
  raw.data.priority = static_cast<std::int32_t>(rules - index);  // the highest priority wins
  raw.data.userdata = static_cast<std::uint32_t>(index + 1);
  raw.field[kProtocol].value.u8 = rule.any_protocol ? std::uint8_t{0} : rule.protocol;
  raw.field[kProtocol].mask_range.u8 = rule.any_protocol ? 0 : 0xFF;
  raw.field[kSource].value.u32 = rule.source;
  raw.field[kSource].mask_range.u32 = rule.source_length;
  raw.field[kDestination].value.u32 = rule.destination;
  raw.field[kDestination].mask_range.u32 = rule.destination_length;
  raw.field[kSourcePort].value.u16 = rule.source_port_first;
  raw.field[kSourcePort].mask_range.u16 = rule.source_port_last;
  raw.field[kDestinationPort].value.u16 = rule.destination_port_first;
  raw.field[kDestinationPort].mask_range.u16 = rule.destination_port_last;
  raw.field[kFamily].value.u32 = rule.ipv4_only ? family : 0;
  raw.field[kFamily].mask_range.u32 = rule.ipv4_only ? UINT32_MAX : 0;
  return raw;
}

}  // namespace

AclTable::AclTable(const std::string& name, const std::vector<Rule>& rules) {
  const rte_acl_param parameters{.name = name.c_str(),
                                 .socket_id = SOCKET_ID_ANY,
                                 .rule_size = RTE_ACL_RULE_SZ(kFields),
                                 .max_rule_num = static_cast<std::uint32_t>(rules.size())};
  context_.reset(rte_acl_create(&parameters));
  if (context_ == nullptr) throw DpdkError("rte_acl_create", name, rte_errno);
  std::vector<RawRule> raw;
  for (std::size_t i = 0; i < rules.size(); ++i)
    raw.push_back(raw_rule(rules[i], kIpv4, i, rules.size()));
  int error = rte_acl_add_rules(context_.get(), reinterpret_cast<const rte_acl_rule*>(raw.data()),
                                static_cast<std::uint32_t>(raw.size()));
  if (error != 0) throw DpdkError("rte_acl_add_rules", name, error);
  rte_acl_config config{};
  config.num_categories = 1;
  config.num_fields = kFields;
  std::ranges::copy(kFieldDefs, config.defs);
  error = rte_acl_build(context_.get(), &config);
  if (error != 0) throw DpdkError("rte_acl_build", name, error);
}

void AclTable::classify(std::span<const Key> keys, std::span<std::uint32_t> out) const noexcept {
  assert(out.size() >= keys.size());
  std::array<const std::uint8_t*, kMaxBatch> data;
  for (std::size_t begin = 0; begin < keys.size(); begin += kMaxBatch) {
    const std::size_t n = std::min(kMaxBatch, keys.size() - begin);
    for (std::size_t i = 0; i < n; ++i)
      data[i] = reinterpret_cast<const std::uint8_t*>(&keys[begin + i]);
    rte_acl_classify(context_.get(), data.data(), out.data() + begin, static_cast<std::uint32_t>(n),
                     1);
  }
}

}  // namespace outrider
