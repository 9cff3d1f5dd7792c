#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tools/lab/cli/cli.h"
#include "tools/lab/run/run_store.h"

namespace outrider::lab {

/// The files of results that are printed: by --json, and otherwise.
struct PrintedFiles {
  const char* json = "summary.json";
  const char* text = "table.txt";
};

/// If `directory` has the complete results of these cases, made by this very program, says so and
/// prints them. The same command would otherwise take as long again for the same figures.
/// @param question  that the cases answer, with all that the results depend on beside them
/// @return whether it did; never with --force or --fresh
bool show_finished(const LabOptions& options, const RunStore& store, const std::string& question,
                   const std::vector<Case>& cases, const std::filesystem::path& directory,
                   const PrintedFiles& files = {});

/// Notes in environment.json that the results in `directory` are complete, for show_finished().
void mark_finished(const LabOptions& options, const RunStore& store, const std::string& question,
                   const std::vector<Case>& cases, const std::filesystem::path& directory);

}  // namespace outrider::lab
