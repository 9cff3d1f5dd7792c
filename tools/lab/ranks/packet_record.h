#pragma once

#include <rte_mempool.h>

#include <string>
#include <string_view>

#include "common/core/clock.h"
#include "common/dpdk/packet/packet.h"

namespace outrider::lab {

/// Appends a packet as another rank of the same program reads it: its bytes, its meta data, and
/// what attribution knows of it. @throws std::runtime_error if it is not one segment of a pool's
/// buffer
void append_packet(std::string& to, const Packet& packet);

/// Reads packets that append_packet() has written one after another.
class PacketRecords {
 public:
  /// @param text must outlive this
  explicit PacketRecords(std::string_view text) : rest_(text) {}

  /// Returns the next packet, in a buffer of `pool`. Its `due` is the instant of its arrival.
  /// @throws std::runtime_error if the text is cut short or the pool is empty
  [[nodiscard]] Packet* next(rte_mempool& pool);
  /// Reads a number that was written as it lies in memory.
  template <class Number>
  [[nodiscard]] Number number() {
    Number value{};
    take(&value, sizeof value);
    return value;
  }
  [[nodiscard]] bool empty() const noexcept { return rest_.empty(); }

 private:
  void take(void* to, std::size_t bytes);

  std::string_view rest_;
};

/// Writes a number as it lies in memory: all ranks run on machines of one kind.
template <class Number>
void append_number(std::string& to, const Number& value) {
  to.append(reinterpret_cast<const char*>(&value), sizeof value);
}

}  // namespace outrider::lab
