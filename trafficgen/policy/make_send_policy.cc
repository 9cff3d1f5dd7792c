#include "trafficgen/policy/make_send_policy.h"

#include "trafficgen/policy/credit_policy.h"
#include "trafficgen/policy/fifo_policy.h"
#include "trafficgen/policy/fusion_policy.h"
#include "trafficgen/policy/p3_policy.h"
#include "trafficgen/policy/prophet_policy.h"
#include "trafficgen/policy/wfbp_policy.h"

namespace outrider::tg {

namespace {

std::unique_ptr<SendPolicy> make_prophet(const PolicyConfig& c, std::uint32_t targets,
                                         std::span<const GradientPiece> pieces) {
  const std::vector<ProphetBlock> blocks = prophet_blocks(c.blocks);
  return std::make_unique<ProphetPolicy>(
      ProphetPolicy::Setup{.targets = targets,
                           .pieces = pieces,
                           .credit_bytes = c.credit_bytes.value_or(0),
                           .monitors = c.bandwidth_from == BandwidthSource::kMonitor,
                           .joins = c.message == ProphetMessage::kBlock,
                           .bandwidth_error = c.bandwidth_error.value_or(1),
                           .profile_iterations = c.profile_iterations.value_or(kProfileIterations),
                           .blocks = blocks});
}

}  // namespace

std::unique_ptr<SendPolicy> make_send_policy(SendPolicyKind kind, const PolicyConfig& c,
                                             std::uint32_t targets,
                                             std::span<const GradientPiece> pieces) {
  const std::size_t n = pieces.size();
  switch (kind) {
    case SendPolicyKind::kWfbp:
      return std::make_unique<WfbpPolicy>(n);
    case SendPolicyKind::kP3:
      return std::make_unique<P3Policy>(targets, n);
    case SendPolicyKind::kCredit:
      return std::make_unique<CreditPolicy>(targets, n, c.credit_bytes.value_or(0));
    case SendPolicyKind::kFusion:
      return std::make_unique<FusionPolicy>(targets, n, c.fusion_bytes.value_or(kFusion_bytes),
                                            c.cycle.value_or(kFusionCycle));
    case SendPolicyKind::kProphet:
      return make_prophet(c, targets, pieces);
    case SendPolicyKind::kFifo:
      break;
  }
  if (c.granularity == Granularity::kTensor) return std::make_unique<FifoPiecesPolicy>(n);
  return std::make_unique<FifoPolicy>(targets);
}

std::unique_ptr<SendPolicy> make_answer_policy(SendPolicyKind kind, const PolicyConfig& c,
                                               std::size_t pieces) {
  switch (kind) {
    case SendPolicyKind::kP3:
      return std::make_unique<P3Policy>(1, pieces);
    case SendPolicyKind::kCredit:
    case SendPolicyKind::kProphet:
      return std::make_unique<CreditPolicy>(1, pieces, c.credit_bytes.value_or(0));
    case SendPolicyKind::kFifo:
    case SendPolicyKind::kWfbp:
    case SendPolicyKind::kFusion:
      break;
  }
  return std::make_unique<WfbpPolicy>(pieces);
}

}  // namespace outrider::tg
