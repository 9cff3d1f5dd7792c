#pragma once

#include <filesystem>
#include <string>

#include "tools/lab/advise/cluster.h"

namespace outrider::lab {

/// @throws std::runtime_error if there is no conf_directory()
std::filesystem::path conf_of_program();

/// Returns whether a directory has no advice for another cluster. If it has, a message has said so.
bool is_free(const std::filesystem::path& directory, const Cluster& cluster, bool force);

/// Writes a cluster to begin from, or prints it if there is no name. @return exit status
int write_new_cluster(const std::string& file);

}  // namespace outrider::lab
