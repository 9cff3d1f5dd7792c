#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace outrider {

/// What every regulated queue sets aside for one signer of STARTs: time, see regulation_budget.h,
/// and slots of the table, see entry_slots.h. Nobody else can use it up, and the signer has nothing
/// beyond it.
struct SignerShare {
  double budget_share = 0;        ///< of each budget window, in (0, 1); 0: there is no such signer
  std::uint32_t max_entries = 0;  ///< slots of the table; > 0 if budget_share is

  bool operator==(const SignerShare&) const = default;
};

inline constexpr std::size_t kMaxSignerShares = 16;

/// Of the signers that have a share, by their number less one: number 0 is everybody else. There
/// are always as many, so that a change of them allocates nothing.
using SignerShares = std::array<SignerShare, kMaxSignerShares>;

}  // namespace outrider
