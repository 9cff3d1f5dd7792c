#pragma once

#include "common/config/checks.h"
#include "common/config/config_binding.h"
#include "common/core/clock.h"

namespace outrider::tg {

/// [job.message]: what a message costs in software. A message is what a send policy hands over at
/// once: a tensor, a partition of one, or several that the policy joins. Parts for different
/// servers are messages of their own.
struct MessageConfig {
  Duration worker_time{};  ///< of the worker's sending thread, before the message leaves
  Duration server_time{};  ///< of the server's receiving thread, before the message is gathered
  bool blocks = false;     ///< computing stands still during worker_time
  bool operator==(const MessageConfig&) const = default;
};

/// @param by_tensor servers answer every piece separately
void check(const Checks& at, const MessageConfig& c, bool by_tensor);

void describe(Settings& v, MessageConfig& c);

}  // namespace outrider::tg
