#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/lab/experiment/experiment.h"
#include "tools/lab/experiment/front_point.h"

namespace outrider::lab {

/// [[front.system]]: a remedy with settings to search.
struct FrontSystem {
  std::string label;
  bool ours = false;                ///< else a baseline
  std::vector<std::string> arms{};  ///< its candidates
};

/// [front] of an experiment.
struct FrontSettings {
  std::uint32_t screening_seeds = 3;  ///< of every candidate
  std::uint32_t seeds = 12;           ///< of those that may be on a front
  /// Corner of the areas: communication time over that without background, share lost.
  FrontPoint reference{.time = 8, .cost = 0.3};
  std::vector<FrontSystem> systems{};
};

/// Takes [front] apart: every combination of a system's values becomes an arm of `file`, so that
/// the other commands take the file as any experiment.
///
/// A parameter of [[front.system]] may be a value or an array of values. Arms are labelled
/// "on-LABEL" or "off-LABEL", by their regulation, and each value of an array behind it.
struct FrontTaken {
  ConfigTable file;  ///< without it
  FrontSettings settings{};
  bool present = false;
  std::size_t first_arm = 0;                ///< of what was made
  std::vector<std::string> keys_of_arms{};  ///< "front.system[1]", of each from there on
};
FrontTaken take_front(const ConfigTable& file, ConfigIssues& issues);

/// Faults of the arms that were made, by the systems' keys.
void name_by_front(const FrontTaken& taken, ConfigIssues& issues);

struct FrontFile {
  ExperimentFile experiment;
  FrontSettings settings;
};

/// @return every fault by its key; a file without [front] is one
ConfigResult<FrontFile> load_front(const std::string& path);

}  // namespace outrider::lab
