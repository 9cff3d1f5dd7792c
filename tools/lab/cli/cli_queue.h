#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "tools/lab/cli/cli_plan.h"
#include "tools/lab/queue/queue_manifest.h"
#include "tools/lab/run/run_store.h"

namespace outrider::lab {

/// A queue and the cases that it is of.
struct OpenQueue {
  std::filesystem::path directory;  ///< absolute
  QueueManifest manifest;
  Planned planned;
};

/// Opens a queue and plans its cases. This process then works in the folder of the queue's files,
/// so that a case has the same paths as where the queue was made.
/// @return nothing, after printing a message, if there is none or this program must not use it
std::optional<OpenQueue> open_queue(const std::string& directory);

/// Returns the store of a queue's finished runs. @param worker see StorePlace::writer
RunStore store_of(const OpenQueue& queue, const std::string& worker);

}  // namespace outrider::lab
