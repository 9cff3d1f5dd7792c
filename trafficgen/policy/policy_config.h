#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "common/config/checks.h"
#include "common/config/config_binding.h"
#include "common/core/clock.h"
#include "common/core/units.h"

namespace outrider::tg {

/// The order in which, and the times at which, a worker hands its gradients to the transport.
enum class SendPolicyKind : std::uint8_t {
  kFifo,     ///< the whole push after the backward pass
  kWfbp,     ///< each tensor when its gradient is ready
  kP3,       ///< partitions, the first layer's before all others, one at a time
  kCredit,   ///< like kP3, with a window of several partitions
  kFusion,   ///< at each cycle, all ready tensors, packed into buffers
  kProphet,  ///< in each gap of the backward pass what fits, first layer first
};

/// The unit for which a server waits before it answers, and a worker before it computes.
enum class Granularity : std::uint8_t {
  kShard,   ///< the whole shard; the worker waits for all parameters
  kTensor,  ///< each piece; the worker waits for the parameters of the next layer
};

/// Where Prophet's bandwidth comes from.
enum class BandwidthSource : std::uint8_t {
  kProfile,  ///< the fastest piece of the profile
  kMonitor,  ///< a moving mean over all iterations
};

/// What Prophet hands over as one message.
enum class ProphetMessage : std::uint8_t {
  kPiece,  ///< each piece, as the authors' code does
  kBlock,  ///< all pieces that may leave together, as the paper describes its blocks
};

/// [job.policy]. Absent settings take the defaults of their policy, below.
struct PolicyConfig {
  Granularity granularity = Granularity::kShard;
  std::optional<std::uint64_t> partition_bytes{};   ///< largest piece
  std::optional<std::uint64_t> credit_bytes{};      ///< limit of unacknowledged bytes
  std::optional<std::uint64_t> fusion_bytes{};      ///< size of a buffer
  std::optional<Duration> cycle{};                  ///< time between cycles of fusion
  std::optional<BandwidthSource> bandwidth_from{};  ///< kProphet
  std::optional<double> bandwidth_error{};          ///< kProphet: factor on the assumed bandwidth
  std::optional<ProphetMessage> message{};          ///< kProphet
  std::optional<std::uint32_t> profile_iterations{};
  std::vector<std::uint32_t> blocks{};  ///< kProphet: see prophet_blocks(); empty: by the profile
};

/// 50,000 parameters of 4 B: Jayarajan et al., MLSys 2019, section 5 (P3's slices).
inline constexpr std::uint64_t kP3Partition_bytes = 200'000;
/// Horovod's defaults (docs: "Tensor Fusion").
inline constexpr std::uint64_t kFusion_bytes = 64ULL << 20;
inline constexpr Duration kFusionCycle = std::chrono::milliseconds(1);
inline constexpr std::uint32_t kProfileIterations = 1;

/// Returns the largest piece that a policy is given; nothing: whole tensors.
[[nodiscard]] std::optional<std::uint64_t> partition_of(SendPolicyKind kind,
                                                        const PolicyConfig& policy);

/// Checks the table under a policy. `at` is the place of [job.policy].
void check(const Checks& at, SendPolicyKind kind, const PolicyConfig& policy);

inline constexpr auto kSendPolicies =
    choices<SendPolicyKind>({{"fifo", SendPolicyKind::kFifo},
                             {"wfbp", SendPolicyKind::kWfbp},
                             {"p3", SendPolicyKind::kP3},
                             {"credit", SendPolicyKind::kCredit},
                             {"fusion", SendPolicyKind::kFusion},
                             {"prophet", SendPolicyKind::kProphet}});
inline constexpr auto kBandwidthSources = choices<BandwidthSource>(
    {{"profile", BandwidthSource::kProfile}, {"monitor", BandwidthSource::kMonitor}});
inline constexpr auto kProphetMessages =
    choices<ProphetMessage>({{"piece", ProphetMessage::kPiece}, {"block", ProphetMessage::kBlock}});
inline constexpr auto kGranularities =
    choices<Granularity>({{"shard", Granularity::kShard}, {"tensor", Granularity::kTensor}});

void describe(Settings& v, PolicyConfig& c);

}  // namespace outrider::tg
