#include "tests/support/source_path.h"

namespace outrider {

std::string source_path(std::string_view relative) {
  std::string path = OUTRIDER_SOURCE_DIR;
  if (!relative.empty()) path.append("/").append(relative);
  return path;
}

}  // namespace outrider
