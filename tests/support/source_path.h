#pragma once

#include <string>
#include <string_view>

namespace outrider {

/// Where a file of the source tree is, e.g. "conf/models/resnet50.toml"; "" is the tree itself.
/// A function, so that only one object file holds the path and the others are the same in
/// every clone: a compiler cache then serves them all.
std::string source_path(std::string_view relative = {});

}  // namespace outrider
