#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace outrider {

/// Runs `work(0)` to `work(count - 1)` concurrently, each on its own lcore: 0 on the calling
/// one, which must be the main lcore. Returns when all have ended.
/// @param work must not throw
/// @throws EnvironmentError if the EAL has fewer lcores; then nothing has run
void run_on_lcores(std::uint32_t count, const std::function<void(std::uint32_t)>& work);

/// Returns the CPUs that the EAL's lcores may run on, ascending. @pre an Eal lives
[[nodiscard]] std::vector<std::uint32_t> cpus_of_lcores();

}  // namespace outrider
