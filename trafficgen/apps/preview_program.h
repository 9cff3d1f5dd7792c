#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "trafficgen/config/config.h"

namespace outrider::tg {

struct PreviewOptions {
  std::string file;  ///< empty: none
  std::optional<std::uint64_t> limit;
};

/// Writes what the configuration would send instead of sending it.
/// @return the exit status. @throws UsageError
int write_preview(const GeneratorConfig& config, const PreviewOptions& wanted);

}  // namespace outrider::tg
