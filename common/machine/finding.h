#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace outrider {

/// The meaning of a finding for a run.
enum class Severity : std::uint8_t {
  kOk,    ///< as it should be
  kNote,  ///< worth knowing; a run that does not need it is not affected
  kWarn,  ///< real-time results may be wrong, or a runtime cannot be used
  kFail,  ///< the programs, or a device prepared for them, cannot start
};

/// Returns "ok", "note", "warn" or "fail".
[[nodiscard]] constexpr std::string_view name_of(Severity severity) noexcept {
  constexpr std::string_view kNames[] = {"ok", "note", "warn", "fail"};
  return kNames[static_cast<std::size_t>(severity)];
}

/// The result of one check. Texts are for people and may change; `check` does not.
struct Finding {
  std::string check;  ///< "GROUP.NAME", e.g. "memory.huge_pages"
  Severity severity = Severity::kOk;
  std::string cause;     ///< what was found
  std::string effect{};  ///< effect on the programs and their results; empty: none
  std::string remedy{};  ///< commands or boot parameters that solve it; empty: nothing to do
};

using Findings = std::vector<Finding>;

[[nodiscard]] inline std::string_view group_of(const Finding& finding) noexcept {
  return std::string_view(finding.check).substr(0, finding.check.find('.'));
}

}  // namespace outrider
