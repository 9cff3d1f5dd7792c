#pragma once

#include <cstdint>
#include <vector>

#include "trafficgen/workload/collective/collective.h"

namespace outrider::tg {

/// State that the pushers and servers of one job share.
struct PsContext {
  CollectiveSetup setup;
  JobRecords& records;
  CollectiveOperation::Owner& owner;
  Exchange* exchange = nullptr;                         ///< set before the job begins
  std::vector<std::uint32_t> part_of{};                 ///< [pieces]: part of its lane's bursts
  std::vector<std::vector<std::uint32_t>> pieces_of{};  ///< [servers][parts]
  /// [workers][pieces]: the piece is the first of its message to its server; 0 or 1
  std::vector<std::vector<std::uint8_t>> begins_message{};

  [[nodiscard]] BurstIdentity pull_identity(std::uint32_t worker,
                                            std::uint32_t iteration) const noexcept {
    return {setup.job, static_cast<std::uint16_t>(worker), iteration, BurstDirection::kPull};
  }
};

}  // namespace outrider::tg
