#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tools/lab/advise/advice_text.h"
#include "tools/lab/advise/advised_file.h"
#include "tools/lab/experiment/case.h"

namespace outrider::lab {

/// Returns what to set on switches, NICs and hosts for the advised remedy. Over RoCEv2 it writes
/// sonic_config() into `directory` too, for the best that another maker's switch can do.
/// @param cases  of the round of which the advice is made
std::string settings_text(const AdvisedFile& advised, const Advice& advice,
                          const std::vector<Case>& cases, const std::filesystem::path& directory);

}  // namespace outrider::lab
