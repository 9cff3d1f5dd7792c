#pragma once

#include <ostream>
#include <string>

#include "tools/lab/summary/bundle_csv.h"

namespace outrider::lab {

// The tables of a bundle that only cases in a fabric have, see bundle_tables().

[[nodiscard]] bool has_links(const Case& definition, const RunResult& result);
[[nodiscard]] bool has_link_series(const Case& definition, const RunResult& result);

std::string links_head();
void write_links_of(std::ostream& out, Runtime runtime, const RunName& name,
                    const RunResult& result);

std::string link_slices_head();
void write_link_slices_of(std::ostream& out, Runtime runtime, const RunName& name,
                          const RunResult& result);

std::string iterations_head();
/// Writes of each iteration of a job the instants between which its workers computed and
/// communicated: the earliest begin and first gradient of any worker, and the latest of the others.
/// One that a worker did not reach is empty.
void write_iterations_of(std::ostream& out, Runtime runtime, const RunName& name,
                         const RunResult& result);

}  // namespace outrider::lab
