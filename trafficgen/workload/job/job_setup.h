#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "common/core/clock.h"
#include "common/core/signal_key.h"
#include "trafficgen/hosts/host.h"
#include "trafficgen/import/step_list.h"
#include "trafficgen/mlt/mlt_config.h"
#include "trafficgen/policy/send_policy.h"
#include "trafficgen/roce/roce_config.h"
#include "trafficgen/workload/config/job_config.h"
#include "trafficgen/workload/plan/recorded_times.h"

namespace outrider::tg {

/// What a job is made of.
struct JobSetup {
  JobConfig config;
  std::uint16_t id = 0;
  TcpConfig tcp;  ///< mss_bytes is set per connection
  std::vector<Host*> workers;
  std::vector<Host*> servers;                ///< none among workers alone
  std::vector<std::uint8_t> nic_classes{};   ///< [servers], at their hosts' NICs; empty: none
  std::vector<std::uint64_t> shard_bytes{};  ///< [servers], see even_shards()
  std::uint64_t burst_bytes = 0;             ///< of all gradients of the model
  StepList steps{};                          ///< with collective kSteps
  /// See pieces_of(). If empty, each shard is one piece, ready after the backward pass.
  std::vector<GradientPiece> pieces{};
  std::vector<double> ready_shares{};  ///< [tensors], shares of the backward pass; empty: unknown
  double forward_share = 0;            ///< share of the compute time
  RecordedTimes recorded{};            ///< for kClosedLoop
  std::uint16_t draws_as = 0;          ///< entity of the job's random draws
  std::uint32_t first_iteration = 0;   ///< added to iterations before drawing, see arrivals
  Duration compute{};                  ///< per iteration, for kClosedLoop
  std::uint64_t seed = 1;
  std::uint32_t first_owner = 0;  ///< first owner id of its workers, for attribution; 0: off
  std::optional<SignalKey> signal_key{};  ///< signs STARTs; absent: they are unsigned
  std::optional<MltConfig> mlt{};         ///< set: bounded-loss transport instead of TCP
  std::optional<RoceConfig> roce{};       ///< set: RoCEv2 instead of TCP
};

/// Returns the DSCP of all packets of a job's bursts; 0 if they have several: over bounded loss it
/// tells their tensor.
[[nodiscard]] inline std::uint8_t dscp_of_bursts(const JobSetup& setup) noexcept {
  return setup.roce ? static_cast<std::uint8_t>(setup.roce->dscp) : 0;
}

}  // namespace outrider::tg
