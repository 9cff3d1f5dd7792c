#pragma once

#include <string>
#include <vector>

#include "tools/lab/advise/advised_file.h"
#include "tools/lab/experiment/experiment.h"

namespace outrider::lab {

/// The experiment with one thing changed, which may be other than the user thinks.
struct WhatIf {
  std::string name;  ///< of its folder: "twice-load"
  std::string text;  ///< "twice the load"
  AdvisedFile advised;
  Point parameters{};  ///< AdvisedQuestion::parameters
};

/// Returns the changes that are possible, the likeliest first. What switches mark at stays.
[[nodiscard]] std::vector<WhatIf> what_ifs(const AdvisedFile& advised);

}  // namespace outrider::lab
