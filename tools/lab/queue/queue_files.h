#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tools/lab/experiment/case.h"

namespace outrider::lab {

/// Returns the files that an experiment is made of: its own, its base, its rivals, its profiles and
/// distributions. Each is relative to the directory in which this process works, and may begin with
/// "..". @param file  such a path of the experiment. @param cases  its plan
/// @throws std::runtime_error if it names one by an absolute path, which another machine may lack
std::vector<std::filesystem::path> files_of(const std::filesystem::path& file,
                                            const std::vector<Case>& cases);

/// Copies the files into the queue so that they have the same paths relative to a folder there.
/// @return that folder, relative to `directory`. @throws std::runtime_error
std::filesystem::path copy_files(const std::vector<std::filesystem::path>& files,
                                 const std::filesystem::path& directory);

}  // namespace outrider::lab
