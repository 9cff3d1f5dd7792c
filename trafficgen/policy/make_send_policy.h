#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "trafficgen/policy/policy_config.h"
#include "trafficgen/policy/send_policy.h"

namespace outrider::tg {

/// Of a worker's push. @param pieces of an iteration, see Job::pieces()
std::unique_ptr<SendPolicy> make_send_policy(SendPolicyKind kind, const PolicyConfig& config,
                                             std::uint32_t targets,
                                             std::span<const GradientPiece> pieces);

/// Of a server's answers to one worker, with Granularity::kTensor: by urgency if the push
/// is, else in the order in which the pieces are complete. Prophet's own is a push; its
/// answers leave by urgency with the same credit.
/// @param pieces of an iteration that the server holds, at most
std::unique_ptr<SendPolicy> make_answer_policy(SendPolicyKind kind, const PolicyConfig& config,
                                               std::size_t pieces);

}  // namespace outrider::tg
