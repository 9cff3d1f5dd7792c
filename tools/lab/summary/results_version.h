#pragma once

namespace outrider::lab {

/// Version of the results of virtual time, raised by every commit that changes them, or figures
/// that are made of them. summary.json has it, and the pages of docs/experiments say at which
/// version their figures were measured: `tools/pages write` renews what they say of this one.
inline constexpr int kResultsVersion = 4;

}  // namespace outrider::lab
