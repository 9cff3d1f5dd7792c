#include "trafficgen/policy/policy_config.h"

#include <algorithm>
#include <initializer_list>
#include <string>

namespace outrider::tg {
namespace {

constexpr std::uint64_t kMinPartition_bytes = 1000;  ///< below this, headers would dominate
constexpr std::uint64_t kMaxPolicy_bytes = 1ULL << 50;
constexpr double kMaxBandwidthError = 1000;
constexpr std::uint32_t kMaxProfileIterations = 1'000'000;

std::string name_of(SendPolicyKind kind) {
  for (const auto& c : kSendPolicies)
    if (c.value == kind) return std::string(c.name);
  return {};
}

bool one_of(SendPolicyKind kind, std::initializer_list<SendPolicyKind> kinds) {
  return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

/// Rejects keys that the policy ignores, because they would silently have no effect.
void refuse_unused(const Checks& at, SendPolicyKind kind, const PolicyConfig& p) {
  using K = SendPolicyKind;
  const auto only = [&](bool given, std::string_view key, std::initializer_list<K> users,
                        std::string_view which) {
    if (given && !one_of(kind, users))
      at.fault(key, "means nothing to send_policy \"" + name_of(kind) + "\": it is of " +
                        std::string(which));
  };
  only(p.partition_bytes.has_value(), "partition_bytes", {K::kP3, K::kCredit, K::kProphet},
       "\"p3\", \"credit\" and \"prophet\"");
  only(p.credit_bytes.has_value(), "credit_bytes", {K::kCredit, K::kProphet},
       "\"credit\" and \"prophet\"");
  only(p.fusion_bytes.has_value(), "fusion_bytes", {K::kFusion}, "\"fusion\"");
  only(p.cycle.has_value(), "cycle", {K::kFusion}, "\"fusion\"");
  only(p.bandwidth_from.has_value(), "bandwidth_from", {K::kProphet}, "\"prophet\"");
  only(p.message.has_value(), "message", {K::kProphet}, "\"prophet\"");
  only(p.bandwidth_error.has_value(), "bandwidth_error", {K::kProphet}, "\"prophet\"");
  only(p.profile_iterations.has_value(), "profile_iterations", {K::kProphet}, "\"prophet\"");
  only(!p.blocks.empty(), "blocks", {K::kProphet}, "\"prophet\"");
}

/// Blocks leave nothing to profile, and no budget.
void check_blocks(const Checks& at, const PolicyConfig& p) {
  if (p.blocks.empty()) return;
  at.require(p.blocks.size() % 2 == 0, "blocks", std::to_string(p.blocks.size()) + " values",
             "must be two for each block: its first tensor, and the first that waits");
  at.require(p.blocks.front() == 0, "blocks", std::to_string(p.blocks.front()) + " at first",
             "must begin with tensor 0");
  const auto fall = std::ranges::adjacent_find(p.blocks, std::ranges::greater_equal{});
  if (fall != p.blocks.end())
    at.fault("blocks", std::to_string(*(fall + 1)) + " after " + std::to_string(*fall),
             "must be larger than the value before it");
  const auto without = [&at](bool given, std::string_view key) {
    if (given) at.fault(key, "must be left out with blocks: nothing is profiled");
  };
  without(p.bandwidth_from.has_value(), "bandwidth_from");
  without(p.bandwidth_error.has_value(), "bandwidth_error");
  without(p.profile_iterations.has_value(), "profile_iterations");
}

void check_sizes(const Checks& at, SendPolicyKind kind, const PolicyConfig& p) {
  const bool by_credit = one_of(kind, {SendPolicyKind::kCredit, SendPolicyKind::kProphet});
  if (kind == SendPolicyKind::kCredit && !p.partition_bytes)
    at.fault("partition_bytes", "is required with send_policy \"credit\"");
  if (by_credit && !p.credit_bytes)
    at.fault("credit_bytes", "is required with send_policy \"" + name_of(kind) + "\"");
  if (p.partition_bytes)
    at.in_range("partition_bytes", *p.partition_bytes, kMinPartition_bytes, kMaxPolicy_bytes,
                "bytes");
  if (p.credit_bytes && at.in_range("credit_bytes", *p.credit_bytes, 1, kMaxPolicy_bytes, "bytes"))
    at.require(!p.partition_bytes || *p.credit_bytes >= *p.partition_bytes, "credit_bytes",
               std::to_string(*p.credit_bytes) + " bytes",
               "must be at least partition_bytes, or no partition could ever leave");
}

}  // namespace

std::optional<std::uint64_t> partition_of(SendPolicyKind kind, const PolicyConfig& policy) {
  if (kind == SendPolicyKind::kP3) return policy.partition_bytes.value_or(kP3Partition_bytes);
  return policy.partition_bytes;
}

void check(const Checks& at, SendPolicyKind kind, const PolicyConfig& p) {
  const bool whole = one_of(kind, {SendPolicyKind::kFifo, SendPolicyKind::kWfbp});
  if (!whole && p.granularity == Granularity::kShard)
    at.fault("granularity", "\"shard\"",
             "must be \"tensor\" with send_policy \"" + name_of(kind) +
                 "\": no order helps as long as everybody waits for everything");
  refuse_unused(at, kind, p);
  check_sizes(at, kind, p);
  check_blocks(at, p);
  if (p.bandwidth_error)
    at.in_interval("bandwidth_error", *p.bandwidth_error, 0, kMaxBandwidthError, false);
  if (p.profile_iterations)
    at.in_range("profile_iterations", *p.profile_iterations, 1, kMaxProfileIterations);
}

void describe(Settings& v, PolicyConfig& c) {
  v.choice(
      "granularity", c.granularity, kGranularities,
      {.accepts = "`\"tensor\"` with a `model` with compute times, `closed_loop`, `ps`, `bsp`, "
                  "`pull` and kept connections",
       .help = "[what a server answers and a forward pass waits for](jobs.md#tensor-by-tensor)"});
  v.bytes("partition_bytes", c.partition_bytes,
          {.range = integers(kMinPartition_bytes, kMaxPolicy_bytes, "bytes"),
           .accepts = "required with `credit`",
           .absent = "`p3`: 200 kB; `prophet`: whole tensors",
           .help = "largest piece; `p3`, `credit`, `prophet`"});
  v.bytes("credit_bytes", c.credit_bytes,
          {.range = integers(1, kMaxPolicy_bytes, "bytes"),
           .accepts = "required with `credit` and `prophet`; at least `partition_bytes`, without "
                      "it at least the largest tensor",
           .absent = "none",
           .help = "handed to the transport and not acknowledged, at most"});
  v.bytes("fusion_bytes", c.fusion_bytes,
          {.range = integers(1, kMaxPolicy_bytes, "bytes"),
           .absent = "64 MiB",
           .help = "buffer of `fusion`"});
  v.duration("cycle", c.cycle,
             {.range = durations_above_zero(), .absent = "`\"1ms\"`", .help = "of `fusion`"});
  v.choice(
      "bandwidth_from", c.bandwidth_from, kBandwidthSources,
      {.absent = "`\"profile\"`",
       .help = "[where `prophet` takes it from](jobs.md#prophets-bandwidth): the fastest piece "
               "of the profile, or a moving mean over all iterations"});
  v.choice("message", c.message, kProphetMessages,
           {.absent = "`\"piece\"`",
            .help = "what `prophet` hands over as one [message](jobs.md#what-a-message-costs): "
                    "each piece, or all pieces that may leave together"});
  v.value("bandwidth_error", c.bandwidth_error,
          {.range = reals_above(0, kMaxBandwidthError),
           .absent = "1",
           .help = "`prophet` assumes the bandwidth times this"});
  v.value("profile_iterations", c.profile_iterations,
          {.range = integers(1, kMaxProfileIterations), .absent = "1", .help = "of `prophet`"});
  v.value("blocks", c.blocks,
          {.accepts = "two values for each block, rising from 0, below the model's tensors",
           .absent = "steps of the profile, and a budget",
           .help = "`prophet`: first tensor of each block, and the first that [waits for tensor "
                   "0](jobs.md#prophets-blocks)"});
}

}  // namespace outrider::tg
