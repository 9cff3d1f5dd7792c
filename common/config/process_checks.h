#pragma once

#include <cstdint>
#include <string_view>

#include "common/config/checks.h"
#include "common/core/batch.h"
#include "common/core/clock.h"

namespace outrider {

// Rules that the files of all programs share.

inline constexpr std::uint64_t kMaxDevices = 32;        ///< RTE_MAX_ETHPORTS of the usual build
inline constexpr std::uint64_t kMaxRecords = 1U << 24;  ///< of one kind, kept in memory
inline constexpr std::uint64_t kPoolCachePackets = 512;

/// A [[device]]: a PCI address or a vdev, descriptors a power of two.
void check_device(const Checks& at, std::string_view device, std::uint16_t rx_descriptors,
                  std::uint16_t tx_descriptors);

/// The poll loop: its CPU, and the width and number of a time series' bins.
void check_loop(const Checks& root, std::uint32_t lcore, Duration bin, std::uint32_t max_bins);

}  // namespace outrider
