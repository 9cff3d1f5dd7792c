#include "common/config/file_kind.h"

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "common/config/toml_file.h"

namespace outrider {
namespace {

bool is_table(const ConfigValue& v) { return v.as<ConfigTable>() != nullptr; }
bool is_integer(const ConfigValue& v) { return v.as<std::int64_t>() != nullptr; }

/// A table or key that files of one kind have and no others.
struct Sign {
  std::string_view key;  ///< a path, see find()
  FileKind kind;
  bool (*fits)(const ConfigValue&) = nullptr;  ///< nullptr: any value does
};

// In this order: an experiment has [[switch]] and [network] too.
constexpr Sign kSigns[]{
    {"tensors", FileKind::kModel},        {"parameters", FileKind::kModel, is_integer},
    {"arm", FileKind::kExperiment},       {"parameters", FileKind::kExperiment, is_table},
    {"base", FileKind::kExperiment},      {"vary", FileKind::kExperiment},
    {"cross", FileKind::kExperiment},     {"front", FileKind::kExperiment},
    {"change", FileKind::kExperiment},    {"goal", FileKind::kExperiment},
    {"test[0].asks", FileKind::kSuite},   {"device[0].trafficgen", FileKind::kTestbed},
    {"host", FileKind::kGenerator},       {"stream", FileKind::kGenerator},
    {"switch[0].port", FileKind::kSwitch}};

std::string_view name_of(FileKind kind) {
  switch (kind) {
    case FileKind::kSwitch:
      return "a file for outrider-switch";
    case FileKind::kGenerator:
      return "a file for outrider-trafficgen";
    case FileKind::kExperiment:
      return "an experiment for outrider-lab run";
    case FileKind::kModel:
      return "a model profile";
    case FileKind::kTestbed:
      return "a testbed";
    case FileKind::kSuite:
      return "a suite for outrider-lab suite";
    case FileKind::kArms:
      return "a file of arms alone";
  }
  return {};
}

}  // namespace

std::string of_another_kind(const ConfigTable& file, FileKind own) {
  const auto is_not = [own](FileKind kind, std::string_view key) {
    return "is " + std::string(name_of(kind)) + ", by its \"" + std::string(key) + "\", not " +
           std::string(name_of(own));
  };
  const bool arms_alone =
      file.get("arm") != nullptr && std::ranges::all_of(file.members, [](const ConfigMember& m) {
        return m.key == "arm" || m.key == "search";
      });
  if (arms_alone) return own == FileKind::kArms ? "" : is_not(FileKind::kArms, "arm");
  const Sign* found = nullptr;
  for (const Sign& sign : kSigns) {
    const ConfigValue* value = find(file, sign.key);
    if (value == nullptr || (sign.fits != nullptr && !sign.fits(*value))) continue;
    if (own == FileKind::kArms && sign.key == "arm") continue;  // the reader says what is too much
    if (sign.kind == own) return {};
    if (found == nullptr) found = &sign;
  }
  return found == nullptr ? "" : is_not(found->kind, found->key);
}

ConfigResult<ConfigTable> read_file_of(const std::string& path, FileKind own) {
  auto file = read_toml_file(path);
  if (!file) return file;
  std::string other = of_another_kind(*file.config, own);
  if (!other.empty()) return {{}, {{"", std::move(other)}}};
  return file;
}

}  // namespace outrider
