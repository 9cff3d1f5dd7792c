#pragma once

#include <cstdint>
#include <functional>

namespace outrider {

/// Runs `work(0)` to `work(count - 1)` at once, each on an lcore of its own: 0 on the
/// calling one, which must be the main lcore. Returns when all have.
/// @param work must not throw
/// @throws EnvironmentError if the EAL has fewer lcores; nothing has run then
void run_on_lcores(std::uint32_t count, const std::function<void(std::uint32_t)>& work);

}  // namespace outrider
