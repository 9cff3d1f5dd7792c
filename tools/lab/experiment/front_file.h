#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/lab/experiment/experiment.h"
#include "tools/lab/experiment/front_point.h"

namespace outrider::lab {

/// One [[front.system]]: a remedy whose settings are searched.
struct FrontSystem {
  std::string label;
  bool ours = false;                ///< false: a baseline
  std::vector<std::string> arms{};  ///< labels of its candidates
};

/// The table [front] of an experiment.
struct FrontSettings {
  std::uint32_t screening_seeds = 3;  ///< seeds that every candidate runs
  std::uint32_t seeds = 12;           ///< seeds of the candidates that may be on a front
  std::uint32_t report_seeds = 30;    ///< further seeds, which give the result of those picked
  /// Corner up to which areas are taken.
  FrontPoint reference{.time = 8, .cost = 0.3};
  std::vector<FrontSystem> systems{};
};

/// The result of take_front().
struct FrontTaken {
  ConfigTable file;  ///< the experiment without [front]
  FrontSettings settings{};
  bool present = false;
  std::size_t first_arm = 0;                ///< index of the first arm made from [front]
  std::vector<std::string> keys_of_arms{};  ///< "front.system[1]", for each arm from there on
};

/// Rewrites [front] of `file`: every combination of a system's values becomes an arm, so that
/// the other commands can read the file like any experiment.
///
/// A parameter of [[front.system]] may be a value or an array of values. An arm's label is
/// "on-LABEL" or "off-LABEL", by its regulation, followed by its value of each array.
FrontTaken take_front(const ConfigTable& file, ConfigIssues& issues);

/// Renames the keys in `issues` so that faults of the arms made from [front] are reported under
/// the systems' keys.
void name_by_front(const FrontTaken& taken, ConfigIssues& issues);

struct FrontFile {
  ExperimentFile experiment;
  FrontSettings settings;
};

/// Reads an experiment with its [front]. @return the file, or every fault by its key; a missing
/// [front] is a fault
ConfigResult<FrontFile> load_front(const std::string& path);

}  // namespace outrider::lab
