#pragma once

#include <cassert>
#include <cstdint>

#include "common/core/clock.h"
#include "common/dpdk/packet/packet.h"
#include "common/runtime/event_loop.h"
#include "common/runtime/node.h"

namespace outrider {

/// A one-way wire: a packet that the transmitter finished at t arrives at t + delay, in order.
/// The transmitter serialises. Packets in flight are chained through their meta data, so a
/// link has no capacity limit.
///
/// Where several processes share a network, either end of a cut wire has a Link: packets leave the
/// first with cross(), before they are due, and are pushed into the second, which delivers them.
///
/// Identity: pushed == delivered + crossed + resident.
class Link final : public EventSource {
 public:
  /// @param to,to_port the far end; must outlive the link's last event
  Link(EventLoop& loop, Duration delay, Node& to, std::uint32_t to_port)
      : loop_(loop), id_(loop.add(*this)), delay_(delay), to_(to), to_port_(to_port) {}
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;
  ~Link() { flush(); }

  /// Sends a packet and takes ownership. @pre sent_at does not decrease from call to call
  [[gnu::always_inline]] void push(Packet* packet, Time sent_at) noexcept {
    PacketMeta& m = meta(*packet);
    m.due = sent_at + delay_;
    m.next = nullptr;
    ++pushed_;
    if (tail_ != nullptr) {
      assert(meta(*tail_).due <= m.due);
      meta(*tail_).next = packet;
      keep_next_due(*tail_, m.due);
    } else {
      head_ = packet;
      loop_.schedule(id_, m.due);
    }
    tail_ = packet;
  }

  Time fire(Time now) noexcept override {
    Packet* packet = head_;
    assert(packet != nullptr && meta(*packet).due == now);
    head_ = meta(*packet).next;
    const Time next_due = next_due_of(*packet);  // if there is one
    const bool more = head_ != nullptr;
    if (!more) tail_ = nullptr;
    ++delivered_;
    to_.receive(to_port_, packet, now);
    if (more) return next_due;
    return head_ == nullptr ? kNever : meta(*head_).due;
  }

  void prepare() const noexcept override {
    if (head_ != nullptr) fetch(*head_);
    __builtin_prefetch(&to_);
  }

  /// Releases the packets in flight. @return packets released; they still count as resident
  std::uint64_t flush() noexcept {
    std::uint64_t released = 0;
    while (head_ != nullptr) {
      Packet* next = meta(*head_).next;
      release(head_);
      head_ = next;
      ++released;
    }
    tail_ = nullptr;
    return released;
  }

  /// Gives up the packets in flight, which another process is to deliver. They are chained through
  /// their meta data in the order of their arrival, `due`. @return nullptr if there are none
  [[nodiscard]] Packet* cross() noexcept {
    Packet* first = head_;
    if (first == nullptr) return nullptr;
    for (const Packet* p = first; p != nullptr; p = meta(*p).next) ++crossed_;
    head_ = tail_ = nullptr;
    loop_.schedule(id_, kNever);
    return first;
  }

  [[nodiscard]] std::uint64_t resident() const noexcept { return pushed_ - delivered_ - crossed_; }
  [[nodiscard]] std::uint64_t pushed() const noexcept { return pushed_; }
  [[nodiscard]] std::uint64_t delivered() const noexcept { return delivered_; }
  [[nodiscard]] std::uint64_t crossed() const noexcept { return crossed_; }
  [[nodiscard]] Duration delay() const noexcept { return delay_; }

 private:
  /// Remembers in a packet when the one after it is due, in a field of the mbuf that no device
  /// reads here: the metadata's cache line has little room. So the next event is known without
  /// reading a packet that is not in the caches.
  static void keep_next_due(Packet& p, Time due) noexcept {
    const auto ns = static_cast<std::uint64_t>(due.time_since_epoch().count());
    p.hash.fdir.lo = static_cast<std::uint32_t>(ns);
    p.hash.fdir.hi = static_cast<std::uint32_t>(ns >> 32);
  }
  static Time next_due_of(const Packet& p) noexcept {
    const std::uint64_t ns = std::uint64_t{p.hash.fdir.hi} << 32 | p.hash.fdir.lo;
    return Time{Duration{static_cast<std::int64_t>(ns)}};
  }

  EventLoop& loop_;
  SourceId id_;
  Duration delay_;
  Node& to_;
  std::uint32_t to_port_;
  Packet* head_ = nullptr;
  Packet* tail_ = nullptr;
  std::uint64_t pushed_ = 0;
  std::uint64_t delivered_ = 0;
  std::uint64_t crossed_ = 0;  ///< given to another process
};

}  // namespace outrider
