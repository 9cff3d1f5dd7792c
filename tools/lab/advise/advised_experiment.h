#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/config/config_value.h"
#include "tools/lab/advise/advised_file.h"
#include "tools/lab/experiment/case.h"
#include "tools/lab/experiment/experiment.h"

namespace outrider::lab {

/// The purpose of an experiment of one round.
struct AdvisedQuestion {
  std::string name;                 ///< of the experiment
  bool brief = false;               ///< fewer iterations, for a first look
  std::vector<std::string> arms{};  ///< labels; empty: all
  Point parameters{};               ///< over those of the file
};

/// Returns an experiment in which `off` is what the file describes as it is today, and remedies are
/// there to be compared with it, see remedy_arms(). Its paths are absolute.
/// @param conf  the folder of remedies.toml
/// @throws std::runtime_error if a list of remedies cannot be read
[[nodiscard]] ConfigTable experiment_of(const AdvisedFile& advised, const AdvisedQuestion& question,
                                        const std::filesystem::path& conf);

/// Returns the arm of a case as TOML that can be added to the end of an experiment. Quantities such
/// as "2rtt" are what they are in the case.
/// @param conf  as above
[[nodiscard]] std::string arm_text(const AdvisedFile& advised, const Case& of_arm,
                                   const std::filesystem::path& conf);

}  // namespace outrider::lab
