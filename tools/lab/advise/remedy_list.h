#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tools/lab/advise/advised_file.h"

namespace outrider::lab {

/// Returns the arms that an experiment is compared with, as an experiment has them: those of
/// conf/remedies.toml, and where gradients have an order of conf/policies.toml; or those of
/// conf/remedies-roce.toml. An arm of the experiment replaces the one of its label.
/// @param experiment  with nested parameters  @param conf  the folder of these files
/// @throws std::runtime_error if one of them cannot be read
[[nodiscard]] ConfigValue::Array remedy_arms(const ConfigTable& experiment,
                                             const AdvisedTraits& traits,
                                             const std::filesystem::path& conf);

/// The arms of an experiment that can be had there.
struct UsableArms {
  std::vector<std::string> labels;    ///< `off` first
  std::vector<std::string> left_out;  ///< "off-hpcc: ...": why it cannot be had
};

/// Returns the arms that [change] allows and that can be planned, each once.
[[nodiscard]] UsableArms usable_arms(const AdvisedFile& advised, const std::filesystem::path& conf);

}  // namespace outrider::lab
