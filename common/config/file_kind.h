#pragma once

#include <string>

#include "common/config/config_value.h"

namespace outrider {

/// The files that users write, each for one program.
enum class FileKind { kSwitch, kGenerator, kExperiment, kCluster };

/// Says that a file is one of another program, by its tables, so that not every key of it is told
/// as unknown: "is a file of outrider-trafficgen, by its table \"host\"; ...". Empty if it is not.
/// @param own  what the reader reads
std::string of_another_program(const ConfigTable& file, FileKind own);

}  // namespace outrider
