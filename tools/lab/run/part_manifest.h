#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tools/lab/plan/plan.h"
#include "tools/lab/run/case_part.h"
#include "tools/lab/run/run_cases.h"

namespace outrider::lab {

/// Says what the finished runs in a part's directory are of: its file `part.json`. A directory has
/// one part, of one plan and one program.
struct PartManifest {
  CasePart part{};
  std::string program{};  ///< program_identity()
  std::string file{};     ///< the experiment's, as it was named
  PlanOptions plan{};
  ReferenceRuns references = ReferenceRuns::kOfAll;
  std::size_t cases = 0;      ///< of all parts
  std::string fingerprint{};  ///< plan_fingerprint() of the cases of all parts
};

/// Returns whether a directory is that of a part.
bool has_part(const std::filesystem::path& directory);

/// @throws std::runtime_error naming the directory, the cause and a remedy
PartManifest read_part(const std::filesystem::path& directory);
/// @throws std::runtime_error naming the file and the cause
void write_part(const std::filesystem::path& directory, const PartManifest& manifest);
/// Makes a directory that of no part. Its finished runs stay.
void remove_part(const std::filesystem::path& directory);

/// Returns why two parts cannot be merged, as a clause on `other`: "is of another experiment,
/// ..."; nothing if they can. Does not compare their numbers.
std::optional<std::string> difference(const PartManifest& first, const PartManifest& other);

}  // namespace outrider::lab
