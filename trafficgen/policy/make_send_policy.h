#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "trafficgen/policy/policy_config.h"
#include "trafficgen/policy/send_policy.h"

namespace outrider::tg {

/// Makes the policy of a worker's push. @param pieces see IterationPlanner::pieces()
std::unique_ptr<SendPolicy> make_send_policy(SendPolicyKind kind, const PolicyConfig& config,
                                             std::uint32_t targets,
                                             std::span<const GradientPiece> pieces);

/// Makes the policy of a server's answers to one worker, with Granularity::kTensor. Answers leave
/// by urgency if pushes do, else in the order in which the pieces are complete. Prophet itself is
/// only for pushes; its answers leave by urgency with the same credit.
/// @param pieces largest number in an iteration that the server holds
std::unique_ptr<SendPolicy> make_answer_policy(SendPolicyKind kind, const PolicyConfig& config,
                                               std::size_t pieces);

}  // namespace outrider::tg
