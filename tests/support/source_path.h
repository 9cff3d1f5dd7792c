#pragma once

#include <string>
#include <string_view>

namespace outrider {

/// Returns the path of a file of the source tree, e.g. "conf/models/resnet50.toml"; "" is the
/// tree itself. It is a function, so that only one object file contains the path. The others are
/// the same in every clone, and a compiler cache serves them all.
std::string source_path(std::string_view relative = {});

}  // namespace outrider
