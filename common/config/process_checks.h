#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

#include "common/config/checks.h"
#include "common/config/setting_range.h"
#include "common/core/batch.h"

namespace outrider {

// Rules that the files of all programs share.

inline constexpr std::uint64_t kMaxDevices = 32;        ///< RTE_MAX_ETHPORTS of the usual build
inline constexpr std::uint64_t kMaxRecords = 1U << 24;  ///< of one kind, kept in memory
inline constexpr std::uint64_t kPoolCachePackets = 512;

inline constexpr std::uint64_t kMaxLcore = 1023;
inline constexpr SettingRange kDescriptors = powers_of_two(32, 32768);
inline constexpr SettingRange kBinWidths = durations_from(std::chrono::microseconds(1));

/// A [[device]]: a PCI address or a vdev.
void check_device(const Checks& at, std::string_view device);

}  // namespace outrider
