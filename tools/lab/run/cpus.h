#pragma once

#include <string>
#include <vector>

namespace outrider::lab {

/// Returns the CPUs that this process may use, in order.
std::vector<unsigned> usable_cpus();

/// Lets this thread, and what it begins from now on, run on these CPUs alone.
/// @throws EnvironmentError
void bind_to(const std::vector<unsigned>& cpus);

/// Returns "CPU 3", or "CPUs 0, 2 and 5".
std::string cpus_text(const std::vector<unsigned>& cpus);

}  // namespace outrider::lab
