#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tools/lab/cli/cli.h"
#include "tools/lab/run/run_store.h"

namespace outrider::lab {

/// If `directory` has the complete results of these cases, made by this very program, says so and
/// prints them. The same command would otherwise take as long again for the same figures.
/// @return whether it did; never with --force or --fresh
bool show_finished(const LabOptions& options, const RunStore& store, const std::string& question,
                   const std::vector<Case>& cases, const std::filesystem::path& directory);

/// Notes in environment.json that the results in `directory` are complete, for show_finished().
void mark_finished(const LabOptions& options, const RunStore& store, const std::string& question,
                   const std::vector<Case>& cases, const std::filesystem::path& directory);

}  // namespace outrider::lab
