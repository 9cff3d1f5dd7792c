#pragma once

#include <array>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>

#include "common/core/clock.h"
#include "common/core/drop_reason.h"
#include "common/dpdk/packet/packet.h"
#include "switch/aqm/egress_queue.h"
#include "switch/aqm/marker.h"
#include "switch/config/config.h"
#include "switch/regulation/policy/start_signal.h"
#include "switch/report/report.h"

namespace outrider::sw {

class PortQueue;

/// The steps of a packet through a queue, and of announcements, in their order. Each is a function
/// of QueuePart.
enum class Step : std::uint8_t {
  kChoose,  ///< before its queue is fixed
  kArrive,  ///< at its queue, before it is admitted or refused
  kAdmit,   ///< the same, behind the regulator: only while the queue has one
  kRoom,    ///< whether the memory that it needs is there
  kEnter,   ///< it is admitted
  kWait,    ///< it waits behind others
  kExit,    ///< it no longer waits
  kMark,    ///< a marker wants CE
  kDepart,  ///< it occupies the transmitter
  kStart,   ///< a burst is announced
  kReturn,  ///< a packet of the other direction arrives at the port
};
inline constexpr std::size_t kSteps = static_cast<std::size_t>(Step::kReturn) + 1;

/// The steps at which a part acts.
class Steps {
 public:
  constexpr Steps(std::initializer_list<Step> steps) noexcept {
    for (const Step s : steps)
      bits_ = static_cast<std::uint16_t>(bits_ | 1U << static_cast<unsigned>(s));
  }
  [[nodiscard]] constexpr bool has(Step s) const noexcept {
    return (bits_ >> static_cast<unsigned>(s) & 1) != 0;
  }

 private:
  std::uint16_t bits_ = 0;
};

/// A packet that comes to a queue.
struct Incoming {
  PortQueue& queue;
  Packet& packet;
  bool is_signal = false;  ///< it is counted with queue 0, and waits in the signals' own queue
  Time now{};
};
/// A part's verdict on a packet, which passes without a reason.
struct ArrivalVerdict {
  std::optional<DropReason> lost{};    ///< it is dropped
  std::optional<MarkReason> marked{};  ///< it is given CE, unless it is lost
};

/// A packet that occupies the transmitter during [start, finish).
struct Transmission {
  PortQueue& queue;
  const EgressQueue<Packet*>::Item& item;
  Time start{};
  Time finish{};
};

/// Keeps packets of a queue before its FIFO: a queue has at most one. What it keeps counts against
/// the queue's limits.
class PacketKeeper {
 public:
  using Item = EgressQueue<Packet*>::Item;

  /// Takes an admitted packet, or lets it pass into the FIFO. @return whether it took it
  [[nodiscard]] virtual bool keep(Packet* packet, Time now) noexcept = 0;
  /// The FIFO's first packet has been taken out to be sent: lets into the FIFO what may enter.
  virtual void let_in(Time now) noexcept = 0;
  [[nodiscard]] virtual Occupancy kept() const noexcept = 0;
  /// Takes out the latest packet. @return without a packet: it keeps none
  [[nodiscard]] virtual Item take_out() noexcept = 0;
  /// The same for a packet that finds no room. @return without a packet: that has no precedence
  [[nodiscard]] virtual Item give_up(const PacketMeta& needs_room) noexcept = 0;

 protected:
  ~PacketKeeper() = default;
};

/// A part's share of a reload: a control thread makes and frees it, the owner applies it.
class PartChange {
 public:
  PartChange() = default;
  PartChange(const PartChange&) = delete;
  PartChange& operator=(const PartChange&) = delete;
  virtual ~PartChange() = default;
};

/// The configurations between which a reload changes a part: of its port, and of its queue.
struct PartReload {
  const SwitchPortConfig& from;
  const SwitchPortConfig& to;
  const PortQueueConfig& queue_from;
  const PortQueueConfig& queue_to;
  const RegulationPolicy& policy;  ///< of queue_to, with what follows from other settings
  std::size_t slots = 0;           ///< places of the queue's FIFO so far
};

/// Something that few queues have beside limits, marker, regulated threshold and FIFO. A part has
/// one state, and acts at the steps that it names; a queue asks no other part at a step. It
/// decides: the queue counts, marks and drops. What it counts itself it adds to the queue's
/// counters.
///
/// The set of parts is closed and in order: see add_parts(). A part belongs to one queue, or to
/// all queues of a port.
///
/// Time does not decrease, and nothing allocates after construction, but for prepare(), count() and
/// report(). Not thread-safe: the lcore of the egress port owns it.
class QueuePart {
 public:
  using Fifo = EgressQueue<Packet*>;

  QueuePart() = default;
  QueuePart(const QueuePart&) = delete;
  QueuePart& operator=(const QueuePart&) = delete;
  virtual ~QueuePart() = default;

  /// Whoever changes what it returns has PartList::renew() follow, as apply_change() of the queue
  /// does.
  [[nodiscard]] virtual Steps steps() const noexcept = 0;

  /// kChoose: may change the queue and the class of a packet, which is no signal.
  virtual void choose(Packet& packet, Time now) noexcept;
  /// kArrive. Each verdict is acted on at once, and further parts do not see a packet that is lost.
  [[nodiscard]] virtual ArrivalVerdict on_arrival(const Incoming& incoming) noexcept;
  /// kAdmit. @return whether further parts must not see the packet
  virtual bool on_admission(Packet& packet, Time now) noexcept;
  /// kRoom. @return why a packet cannot enter; nothing: it may
  [[nodiscard]] virtual std::optional<DropReason> refuses(const Packet& packet) const noexcept;
  /// kEnter.
  virtual void on_entry(const Packet& packet, Time now) noexcept;
  /// kWait.
  virtual void on_waiting(Time now) noexcept;
  /// kExit: sent, given up or discarded.
  virtual void on_exit(const Fifo::Item& item, Time now) noexcept;
  /// kMark. @return whether the packet is spared
  [[nodiscard]] virtual bool spares(const PacketMeta& m, MarkReason reason) noexcept;
  /// kDepart.
  virtual void on_departure(const Transmission& sent) noexcept;
  /// kStart: before the queue's regulator handles it. @return whether that must not
  [[nodiscard]] virtual bool takes_start(const StartSignal& start, Time now) noexcept;
  /// kStart: after it was armed.
  virtual void on_armed(const StartSignal& start, Time now) noexcept;
  /// kReturn: the holder keeps the packet. @return whether further parts must not see it
  virtual bool on_return(Packet& packet, Time now) noexcept;
  /// kReturn: returns how long before a burst of that flow a START had better leave, if it measures
  /// that.
  [[nodiscard]] virtual std::optional<Duration> lead_for(const FlowKey& flow, Time now) noexcept;

  /// kStart: a packet of DDL payload goes to another queue, whose bursts this one subscribes to.
  /// @return whether the queue's regulator must not follow it
  virtual bool takes_elsewhere(Packet& packet, Time now) noexcept;
  /// The same, after the regulator. @param same_port  whether it takes the same link
  virtual void on_elsewhere(Packet& packet, bool same_port, Time now) noexcept;

  /// Returns itself if it keeps packets before the FIFO; nullptr: it does not. @pre it acts at
  /// kRoom, as what it keeps counts against the limits
  [[nodiscard]] virtual PacketKeeper* keeper() noexcept { return nullptr; }

  // -- Whatever its steps

  /// Ends the account of a packet of the FIFO that is released at the end of the run.
  virtual void forget(const Fifo::Item& item) noexcept;
  /// Returns how many packets it keeps that came to no queue of the port. @param queue  number in
  /// the port, for a part of all its queues
  [[nodiscard]] virtual std::uint64_t keeps(std::size_t queue) const noexcept;
  /// Releases all packets that it keeps, at the end of the run. Reports made before count them as
  /// resident.
  virtual void flush() noexcept;

  /// Brings it up to `now`, so that count() allocates nothing.
  virtual void settle(Time now) noexcept;
  /// Writes its counters. @param queue  as for keeps()
  virtual void count(QueueCounts& to, std::size_t queue, Time now) const;
  virtual void report(QueueReport& to, Time now) const;

  // A reload reaches a part through every queue that has it, so that a part of all queues of a port
  // gets the same change once for each.

  /// @return nullptr if nothing changes. A control thread calls it
  [[nodiscard]] virtual std::unique_ptr<PartChange> prepare(const PartReload& reload) const;
  /// Swaps its changes in. Allocates and frees nothing. @param change  of prepare(), or nullptr
  /// @param to  the queue's new configuration
  virtual void apply(PartChange* change, const PortQueueConfig& to, Time now) noexcept;
};

/// The parts of one queue, by the steps at which they act. Does not own them.
class PartList {
 public:
  static constexpr std::size_t kMost = 16;  ///< bits of others_

  void add(QueuePart& part) noexcept {
    assert(size_ < kMost);
    parts_[size_++] = &part;
    renew();
  }
  /// Asks the parts anew at which steps they act.
  void renew() noexcept;

  [[nodiscard]] bool act_at(Step s) const noexcept { return first_[index_of(s)] != nullptr; }
  /// Returns the part that keeps packets before the FIFO; nullptr: none does.
  [[nodiscard]] PacketKeeper* keeper() const noexcept { return keeper_; }
  /// Returns whether a packet that finds the queue empty and the transmitter free may pass without
  /// being put in the FIFO: no part has to know of it.
  [[nodiscard]] bool may_pass() const noexcept { return may_pass_; }
  /// Returns what waits before the FIFO.
  [[nodiscard]] Occupancy kept() const noexcept {
    return keeper_ != nullptr ? keeper_->kept() : Occupancy{};
  }
  /// Calls `act(part)` for those that act at `s`, in order, until one returns true.
  /// @return whether one did
  template <class Act>
  [[gnu::always_inline]] bool any(Step s, Act&& act) const noexcept {
    QueuePart* const first = first_[index_of(s)];
    if (first == nullptr) [[likely]]
      return false;
    if (act(*first)) return true;
    for (unsigned left = others_[index_of(s)]; left != 0; left &= left - 1)
      [[unlikely]] if (act(*parts_[static_cast<unsigned>(std::countr_zero(left))])) return true;
    return false;
  }
  /// Calls it for all of them.
  template <class Act>
  [[gnu::always_inline]] void each(Step s, Act&& act) const noexcept {
    static_cast<void>(any(s, [&act](QueuePart& part) {
      act(part);
      return false;
    }));
  }
  /// Tells them of a packet that no longer waits.
  [[gnu::noinline]] void exit(const QueuePart::Fifo::Item& item, Time now) const noexcept;
  /// Calls `act(part)` for all parts, whatever their steps.
  template <class Act>
  void each(Act&& act) const {
    for (std::size_t i = 0; i < size_; ++i) act(*parts_[i]);
  }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

 private:
  [[nodiscard]] static constexpr std::size_t index_of(Step s) noexcept {
    return static_cast<std::size_t>(s);
  }

  PacketKeeper* keeper_ = nullptr;
  bool may_pass_ = true;
  std::array<QueuePart*, kSteps> first_{};      ///< that acts at a step; nullptr: none
  std::array<std::uint16_t, kSteps> others_{};  ///< bit i: parts_[i] does, behind the first
  std::size_t size_ = 0;
  std::array<QueuePart*, kMost> parts_{};
};

}  // namespace outrider::sw
