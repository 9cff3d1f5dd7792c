#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/core/clock.h"
#include "tools/lab/experiment/case.h"

namespace outrider::lab {

/// The sizes of models, each file of which is read once.
class ModelSizes {
 public:
  struct Size {
    std::optional<std::uint64_t> bytes{};  ///< of all gradients; absent: the file cannot be read
    Duration compute{};                    ///< of an iteration; zero if the file says none
  };
  const Size& of(const std::string& path);

 private:
  std::map<std::string, Size> sizes_{};
};

/// Returns the virtual time of a case [s], without that of its run without background. For a
/// closed loop it assumes that bursts get half of the bottleneck. Returns nothing if the model that
/// determines the time cannot be read.
std::optional<double> virtual_seconds(const Case& c, ModelSizes& models);

/// Estimates the wall time of all cases [s]. It runs the first case for two seconds and scales
/// its progress by how much the other cases' bottlenecks carry compared with the first one's.
/// @return nothing if no estimate can be made. @throws EnvironmentError
std::optional<double> estimate_seconds(const std::vector<Case>& cases, std::size_t jobs);

/// Returns a duration as text: "40 s", "12 min", "3.5 h".
std::string duration_text(double seconds);

}  // namespace outrider::lab
