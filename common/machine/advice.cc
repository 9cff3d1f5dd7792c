#include "common/machine/advice.h"

#include <algorithm>
#include <vector>

namespace outrider {
namespace {

struct Clue {
  std::string_view word;   ///< in DPDK's log
  std::string_view check;  ///< beginning of a check's name
};

constexpr Clue kClues[] = {
    {"hugepage", "memory."},
    {"memory", "memory."},
    {"mmap", "memory."},
    {"VFIO", "devices."},
    {"vfio", "devices."},
    {"IOMMU", "devices."},
    {"PCI", "devices."},
    {"TAP", "kernel.tap"},
    {"tap", "kernel.tap"},
    {"af_xdp", "kernel.af_xdp"},
    {"af_packet", "kernel.af_packet"},
    {"AF_XDP", "kernel.af_xdp"},
    {"plugin", "dpdk."},
    {"driver", "dpdk."},
};

bool pointed_to(const Finding& finding, std::string_view said) {
  return std::any_of(std::begin(kClues), std::end(kClues), [&](const Clue& clue) {
    return finding.check.starts_with(clue.check) && said.find(clue.word) != std::string_view::npos;
  });
}

std::string told(const Finding& finding) {
  std::string text = "\n  " + finding.check + ": " + finding.cause;
  if (!finding.effect.empty()) text += "; " + finding.effect;
  if (!finding.remedy.empty()) text += "\n    mend: " + finding.remedy;
  return text;
}

}  // namespace

std::string advice_for(const Findings& findings, std::string_view said) {
  std::string text;
  for (const Finding& finding : findings) {
    const bool tells = finding.severity == Severity::kFail ||
                       (finding.severity != Severity::kOk && pointed_to(finding, said));
    if (!tells) continue;
    text += told(finding);
  }
  return text + "\n  `outrider-doctor` checks the whole machine.";
}

std::string device_advice(const Findings& findings, std::string_view address) {
  const std::string check = "devices." + std::string(address);
  for (const Finding& finding : findings)
    if (finding.check == check && finding.severity == Severity::kFail) return told(finding);
  return {};
}

}  // namespace outrider
