#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/config/config_result.h"
#include "tools/lab/import/foreign_kind.h"

namespace outrider::lab {

/// A file of another simulator, as it was read.
struct ForeignFile {
  std::filesystem::path path;
  std::string text;
};

/// An experiment made of files of other simulators.
struct ImportedExperiment {
  std::string what;                     ///< "a list of flows: 4 flows between 5 hosts, ..."
  std::vector<std::string> understood;  ///< a line each
  std::vector<std::string> left_out;    ///< the same, of what is in the file and not played
  std::string text;                     ///< of the experiment, TOML
  /// Further files that it names, by the names that it gives them, and their texts.
  std::vector<std::pair<std::string, std::string>> files;
};

/// Makes an experiment of a topology, whose traffic is then assumed, or of flows on a topology.
///
/// Host n of a list of flows is node n of the topology; of a connection matrix it is the n-th host,
/// from 0, in the order of the topology's numbers.
///
/// From traces of jobs it makes an experiment with a job for each, in the order of `files`; of
/// Chakra, files that differ in the number before ".et" alone are the ranks of one job.
///
/// @param files     several of traces of jobs, else one; not empty
/// @param name      of the experiment, which further files have too: "NAME.flows.csv"
/// @param topology  nullptr: `file` says it
/// @param into      folder of the experiment; paths in it start there
/// @return the experiment, or the faults: by the path of the file, with its line
ConfigResult<ImportedExperiment> import_experiment(const std::vector<ForeignFile>& files,
                                                   const ForeignFile* topology,
                                                   const std::string& name,
                                                   const std::filesystem::path& into);

}  // namespace outrider::lab
