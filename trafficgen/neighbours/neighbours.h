#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "common/config/addresses.h"
#include "common/core/clock.h"
#include "common/core/flow_table.h"
#include "common/net/headers.h"

namespace outrider::tg {

/// Keeps the neighbours behind a device by IPv4 address. It decides what happens to a packet whose
/// next hop may not be resolved yet, and when to ask for the next hop. It keeps no packet and sends
/// none.
///
/// A next hop is asked for when it is first needed, and again 1 s and 3 s after that while nobody
/// answers; 7 s after the first request it is *silent*. A silent neighbour is asked once more when
/// a packet needs it, 8 s later at the earliest. Learned entries stay until they are replaced;
/// noticing a dead peer is left to TCP.
///
/// Sources: RFC 826 (what is learned from a request), RFC 1122, 2.3.2 (at most one request per
/// second and destination; the caller holds the latest packet). Memory is allocated at
/// construction; a full table accepts no new neighbours. Not thread-safe.
class NeighbourTable {
 public:
  static constexpr std::uint32_t kMaxLearned = 1024;  ///< in addition to the fixed ones
  static constexpr std::uint32_t kRequests = 3;       ///< unanswered before a neighbour is silent

  enum class State : std::uint8_t { kFixed, kLearned, kAsking, kSilent };
  struct Entry {
    std::uint32_t address = 0;
    State state = State::kAsking;
    MacAddress mac{};              ///< meaningful only if kFixed or kLearned
    std::uint32_t unanswered = 0;  ///< requests since it was last learned
    std::uint64_t requests = 0;    ///< in all
    /// kAsking: when it is asked again or given up; kSilent: it is not asked before.
    Time next_request{};

    [[nodiscard]] bool known() const noexcept {
      return state == State::kFixed || state == State::kLearned;
    }
  };

  struct Fixed {
    std::uint32_t address = 0;
    MacAddress mac{};
  };
  struct Setup {
    bool ask = false;  ///< false: only fixed neighbours are known
    std::optional<Prefix> subnet{};
    std::optional<std::uint32_t> gateway{};  ///< next hop of addresses outside `subnet`
    std::vector<Fixed> fixed{};  ///< never asked for, never overwritten; addresses are unique
  };

  enum class Verdict : std::uint8_t {
    kSend,         ///< `entry` is known
    kImplied,      ///< not in the table and not asked for: the MAC follows from the address
    kHold,         ///< asked for: keep the packet until it is learned or silent
    kAskAndHold,   ///< like kHold, and a request must leave now
    kUnreachable,  ///< silent, or the table is full: drop
  };
  static constexpr std::uint32_t kNoEntry = UINT32_MAX;
  struct Decision {
    Verdict verdict{};
    std::uint32_t entry = 0;  ///< index; kNoEntry if kImplied or the table is full
  };

  explicit NeighbourTable(const Setup& setup);

  /// Decides what happens to a packet for `destination`, and notes the request if one must leave.
  Decision resolve(std::uint32_t destination, Time now) noexcept;

  /// Notes a claim that `address` is at `mac`.
  /// @param add  also if nobody has asked for it (RFC 826: only if we are the target)
  /// @return the entry if the claim has just resolved it
  std::optional<std::uint32_t> learn(std::uint32_t address, const MacAddress& mac,
                                     bool add) noexcept;

  /// Returns the earliest instant at which next_due() has an entry; kNever if nobody is asked.
  [[nodiscard]] Time next_timer() const noexcept;
  struct Due {
    std::uint32_t entry = 0;
    bool given_up = false;  ///< false: a request must leave now
  };
  /// Returns one entry that is due; call it until it returns nothing.
  std::optional<Due> next_due(Time now) noexcept;

  [[nodiscard]] const Entry& entry(std::uint32_t index) const noexcept { return entries_[index]; }
  [[nodiscard]] const std::vector<Entry>& entries() const noexcept { return entries_; }
  /// Returns how often there was no room for a neighbour.
  [[nodiscard]] std::uint64_t table_full() const noexcept { return table_full_; }

 private:
  [[nodiscard]] std::uint32_t next_hop(std::uint32_t destination) const noexcept {
    return setup_.gateway && setup_.subnet && !setup_.subnet->contains(destination)
               ? *setup_.gateway
               : destination;
  }
  [[nodiscard]] std::uint32_t* find(std::uint32_t address) noexcept {
    return index_.find(FlowKey{.destination_address = address});
  }
  std::optional<std::uint32_t> add(const Entry& entry) noexcept;
  void note_request(Entry& entry, Time now) noexcept;

  Setup setup_;
  FlowTable<std::uint32_t> index_;
  std::vector<Entry> entries_;  ///< never shrinks, so that indices stay valid
  std::uint32_t asking_ = 0;    ///< number of kAsking entries
  std::uint64_t table_full_ = 0;
};

}  // namespace outrider::tg
