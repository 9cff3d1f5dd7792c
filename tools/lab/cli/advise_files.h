#pragma once

#include <filesystem>
#include <string>

#include "tools/lab/advise/advised_file.h"

namespace outrider::lab {

/// The file in a directory of results that says what they answer.
inline constexpr const char* kAskedFile = "asked.toml";

/// The message if no arm but today's is left.
inline constexpr const char* kNothingToAdvise =
    "outrider-lab: nothing may be changed by [change], so there is nothing to advise";

/// @throws std::runtime_error if there is no conf_directory()
std::filesystem::path conf_of_program();

/// Returns what identifies a piece of advice: the experiment, and what may be changed and cost.
std::string identity_of(const AdvisedFile& advised);

/// Returns whether a directory has no advice for another file. If it has, a message has said so.
bool is_free(const std::filesystem::path& directory, const AdvisedFile& advised, bool force);

/// Returns whether a file is for advise alone: it has [change] or [goal], and no arms.
bool is_for_advise(const std::string& path);

/// Prints what advise would say of a file before it runs anything. @return exit status
int check_advised(const std::string& path);

/// Writes a file to begin from, or prints it if there is no name. @return exit status
int write_new_advised(const std::string& file);

}  // namespace outrider::lab
