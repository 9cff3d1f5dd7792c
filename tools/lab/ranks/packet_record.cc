#include "tools/lab/ranks/packet_record.h"

#include <cstring>
#include <stdexcept>
#include <type_traits>

#include "common/dpdk/packet/packet_slot.h"

namespace outrider::lab {
namespace {

/// The fields of a packet's buffer that its receiver reads, beside the private area.
struct RecordHead {
  std::uint64_t offload_flags = 0;
  std::uint32_t packet_type = 0;  ///< says whether the meta data know the headers
  std::uint16_t data_offset = 0;
  std::uint16_t data_bytes = 0;
  std::uint32_t port = 0;
  std::uint32_t has_slot = 0;  ///< 1: a PacketSlot follows
};
static_assert(sizeof(RecordHead) == 24, "no padding: it is written as it lies in memory");
static_assert(std::is_trivially_copyable_v<PacketMeta>);
static_assert(std::is_trivially_copyable_v<PacketSlot>);

}  // namespace

void append_packet(std::string& to, const Packet& packet) {
  if (packet.nb_segs != 1 || !RTE_MBUF_DIRECT(&packet))
    throw std::runtime_error("a packet of several buffers cannot go to another rank");
  const auto bytes = buffer(const_cast<Packet&>(packet));
  const RecordHead head{.offload_flags = packet.ol_flags,
                        .packet_type = packet.packet_type,
                        .data_offset = packet.data_off,
                        .data_bytes = static_cast<std::uint16_t>(bytes.size()),
                        .port = packet.port,
                        .has_slot = meta(packet).has_slot ? 1U : 0U};
  PacketMeta of_packet = meta(packet);
  of_packet.next = nullptr;  // an address means nothing elsewhere
  append_number(to, head);
  append_number(to, of_packet);
  if (head.has_slot != 0) append_number(to, slot_of(packet));
  to.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

void PacketRecords::take(void* to, std::size_t bytes) {
  if (rest_.size() < bytes) throw std::runtime_error("a rank's batch is cut short");
  std::memcpy(to, rest_.data(), bytes);
  rest_.remove_prefix(bytes);
}

Packet* PacketRecords::next(rte_mempool& pool) {
  const auto head = number<RecordHead>();
  Packet* packet = rte_pktmbuf_alloc(&pool);
  if (packet == nullptr) throw std::runtime_error("no buffer is left for another rank's packets");
  take_over(packet);
  packet->ol_flags = head.offload_flags;
  packet->packet_type = head.packet_type;
  packet->data_off = head.data_offset;
  packet->data_len = head.data_bytes;
  packet->pkt_len = head.data_bytes;
  packet->port = static_cast<std::uint16_t>(head.port);
  take(&meta(*packet), sizeof(PacketMeta));
  if (head.has_slot != 0) take(&slot_of(*packet), sizeof(PacketSlot));
  take(rte_pktmbuf_mtod(packet, void*), head.data_bytes);
  return packet;
}

}  // namespace outrider::lab
