#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <string_view>

#include "common/config/config_value.h"
#include "common/core/config_issue.h"

namespace outrider::lab {

/// A key of an experiment whose value is the path of another file. It starts at the folder of the
/// file that says it. No other key in any table of an experiment, at any depth, has the same name
/// and a text.
struct FileKey {
  std::string_view name;
  /// A value may also name a file of this folder in conf/, see named_file(). Empty: only a path.
  std::string_view shipped{};
  std::string_view extension{};  ///< of the files there
};

inline constexpr FileKey kModelFile{"model", "models", ".toml"};        // job.model, [[job]]
inline constexpr FileKey kStepsFile{"steps"};                           // job.steps, [[job]]
inline constexpr FileKey kSizesFile{"sizes", "distributions", ".cdf"};  // of background
inline constexpr FileKey kFlowListFile{"list"};    // of background; of [[job]] a list of jobs
inline constexpr FileKey kCaptureFile{"capture"};  // of background
inline constexpr FileKey kMatrixFile{"matrix"};    // [background]
inline constexpr FileKey kTopologyFile{"file"};    // [fabric], see build_fabric()
inline constexpr FileKey kJobListFile = kFlowListFile;

inline constexpr std::array<FileKey, 7> kFileKeys{
    kModelFile, kStepsFile, kSizesFile, kFlowListFile, kCaptureFile, kMatrixFile, kTopologyFile};

/// Returns the path of the file that the value of a key names. @param directory where paths start
std::string path_of_file(const FileKey& key, const std::string& value,
                         const std::filesystem::path& directory);

/// Refuses values in the tables of an experiment that name two files, or a misspelt one; see
/// name_problem(). @param directory where its paths start
void check_names(const ConfigTable& experiment, const std::filesystem::path& directory,
                 ConfigIssues& issues);

/// Has the paths in the tables of an experiment, which start at `folder`, start at `directory`. A
/// value that names the same file from both stays.
/// @param folder  a path from `directory`
void move_paths(ConfigTable& experiment, const std::filesystem::path& folder,
                const std::filesystem::path& directory);

}  // namespace outrider::lab
