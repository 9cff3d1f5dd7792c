#include "common/config/file_kind.h"

#include <string_view>

namespace outrider {
namespace {

/// A table or key that files of one kind have and no others.
struct Sign {
  std::string_view key;  ///< a path, see find()
  FileKind kind;
};

// In this order: an experiment has [[switch]] and [network] too.
constexpr Sign kSigns[]{
    {"arm", FileKind::kExperiment},         {"parameters", FileKind::kExperiment},
    {"change", FileKind::kCluster},         {"goal", FileKind::kCluster},
    {"network.buffer", FileKind::kCluster}, {"host", FileKind::kGenerator},
    {"stream", FileKind::kGenerator},       {"switch[0].port", FileKind::kSwitch}};

std::string_view name_of(FileKind kind) {
  switch (kind) {
    case FileKind::kSwitch:
      return "outrider-switch";
    case FileKind::kGenerator:
      return "outrider-trafficgen";
    case FileKind::kExperiment:
      return "outrider-lab run";
    case FileKind::kCluster:
      return "outrider-lab advise";
  }
  return {};
}

}  // namespace

std::string of_another_program(const ConfigTable& file, FileKind own) {
  const Sign* found = nullptr;
  for (const Sign& sign : kSigns) {
    if (find(file, sign.key) == nullptr) continue;
    if (sign.kind == own) return {};
    if (found == nullptr) found = &sign;
  }
  if (found == nullptr) return {};
  return "is a file for " + std::string(name_of(found->kind)) + ", by its \"" +
         std::string(found->key) + "\", and this is " + std::string(name_of(own));
}

}  // namespace outrider
