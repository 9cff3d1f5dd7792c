#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tools/lab/ranks/peers.h"
#include "tools/lab/ranks/shared_lanes.h"

namespace outrider::lab {

/// Peers of one machine, which share memory. A round is one message to each of the others, which
/// has the number to compare and the batch: few ranks need no tree.
class SharedPeers final : public Peers {
 public:
  /// @param lanes must outlive this
  /// @param spins  see SharedLanes::wait(): 0 where ranks share processors
  SharedPeers(std::uint32_t rank, SharedLanes& lanes, std::uint32_t spins);

  [[nodiscard]] std::uint32_t rank() const noexcept override { return rank_; }
  [[nodiscard]] std::uint32_t size() const noexcept override { return lanes_.ranks(); }
  std::int64_t exchange(std::span<const std::string> send, const std::vector<bool>& neighbours,
                        std::int64_t mine, std::vector<std::string>& received) override;
  std::int64_t least(std::int64_t mine) override;
  std::vector<std::string> gather(const std::string& mine) override;
  [[nodiscard]] PeerCosts costs() const noexcept override { return costs_; }

 private:
  struct Head {
    std::int64_t number = 0;
    std::uint64_t bytes = 0;
  };
  /// What goes to one peer, and what has come of its message.
  struct Message {
    Head out{}, in{};
    std::size_t sent = 0, got = 0;  ///< bytes, heads included
    [[nodiscard]] bool sent_all() const noexcept { return sent == sizeof(Head) + out.bytes; }
    [[nodiscard]] bool got_all() const noexcept {
      return got >= sizeof(Head) && got == sizeof(Head) + in.bytes;
    }
    [[nodiscard]] bool done() const noexcept { return sent_all() && got_all(); }
  };

  std::int64_t round(std::span<const std::string> send, std::int64_t mine,
                     std::vector<std::string>& received);
  void write_some(std::uint32_t to, const std::string& text);
  void read_some(std::uint32_t from, std::string& text);
  [[nodiscard]] bool all_done() const noexcept;
  [[nodiscard]] bool can_move(std::uint32_t peer) const noexcept;
  void wait_for_any();

  std::uint32_t rank_;
  SharedLanes& lanes_;
  std::uint32_t spins_;
  std::vector<Message> messages_;  ///< [ranks]; its own is done
  std::vector<std::string> nothing_, unused_;
  PeerCosts costs_;
};

}  // namespace outrider::lab
