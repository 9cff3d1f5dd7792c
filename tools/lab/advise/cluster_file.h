#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/config/config_result.h"
#include "common/config/config_value.h"
#include "tools/lab/advise/cluster.h"

namespace outrider::lab {

/// Reads a cluster. Names of models and distributions become paths, and paths become absolute.
/// [job] is a table, or a list.
/// @param conf  the folder of models/ and distributions/
/// @return the cluster, or every fault by its key
ConfigResult<Cluster> load_cluster(const std::string& path, const std::filesystem::path& conf);

/// Does the same for a table. @param from  where relative paths start
ConfigResult<Cluster> cluster_from(ConfigTable file, const std::filesystem::path& from,
                                   const std::filesystem::path& conf);

/// Returns what the cluster has and its file does not say, such as "job.servers = 1", K included
/// where it follows from the path. Names and numbers that are empty or 0 are left out. Pure.
/// @param written  the file's table
[[nodiscard]] std::vector<std::string> assumed(ConfigTable written, const Cluster& cluster);

/// Returns a file to begin from, in which every key says what it is.
[[nodiscard]] std::string new_cluster();

}  // namespace outrider::lab
