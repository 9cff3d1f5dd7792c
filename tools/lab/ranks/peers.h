#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace outrider::lab {

/// Another rank has ended. The cause is with whoever started it.
class PeerGone : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What a rank spent on the others.
struct PeerCosts {
  std::uint64_t rounds = 0;      ///< exchange() and least()
  std::uint64_t sent_bytes = 0;  ///< of batches
  double seconds_waited = 0;     ///< in calls of this class, by the wall clock
};

/// The other ranks that run the same case. All ranks make the same calls in the same order. Not
/// thread-safe.
class Peers {
 public:
  virtual ~Peers() = default;
  Peers() = default;
  Peers(const Peers&) = delete;
  Peers& operator=(const Peers&) = delete;

  [[nodiscard]] virtual std::uint32_t rank() const noexcept = 0;
  [[nodiscard]] virtual std::uint32_t size() const noexcept = 0;

  /// Sends a batch to each neighbour, and receives the one that it sends. The result does not
  /// depend on which comes first.
  /// @param send  [ranks] empty for ranks that are no neighbours
  /// @param neighbours  [ranks] whether batches go to and come from it; all ranks agree on pairs
  /// @param received  [ranks] is overwritten
  /// @return the least `mine` of all ranks
  /// @throws PeerGone
  virtual std::int64_t exchange(std::span<const std::string> send,
                                const std::vector<bool>& neighbours, std::int64_t mine,
                                std::vector<std::string>& received) = 0;
  /// Returns the least `mine` of all ranks. @throws PeerGone
  virtual std::int64_t least(std::int64_t mine) = 0;
  /// Returns the texts of all ranks at rank 0, and nothing at the others. @throws PeerGone
  virtual std::vector<std::string> gather(const std::string& mine) = 0;

  [[nodiscard]] virtual PeerCosts costs() const noexcept = 0;
};

}  // namespace outrider::lab
