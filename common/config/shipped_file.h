#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace outrider {

/// Returns the folder of models, distributions and remedies that belongs to this program: that of
/// the source tree in which it was built, or share/outrider/conf of where it is installed.
std::optional<std::filesystem::path> conf_directory();

/// Returns the path of a file that a setting names: a path from `directory`; or, without a dot or a
/// slash, the name of a file of `folder` in conf_directory(), such as "resnet50" for
/// conf/models/resnet50.toml. A file of that name in `directory` comes first, see name_problem().
std::string named_file(const std::string& text, std::string_view folder, std::string_view extension,
                       const std::filesystem::path& directory);

/// Says why a name without a dot or a slash is not to be used: it names a file of `directory` and
/// one of `folder`, or neither and looks like a misspelt one. Empty otherwise.
std::string name_problem(const std::string& text, std::string_view folder,
                         std::string_view extension, const std::filesystem::path& directory);

}  // namespace outrider
