#pragma once

#include <rte_mempool.h>
#include <sanitizer/asan_interface.h>

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "common/dpdk/packet/mempool.h"
#include "common/dpdk/packet/packet.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/support/test_eal.h"

namespace outrider::fuzz {

/// The EAL and a pool, for all inputs of a process. Between two inputs all packets are back.
class FuzzPool {
 public:
  /// Returns the process's pool, which the first call makes.
  static FuzzPool& get() {
    static FuzzPool pool("fuzz");
    return pool;
  }
  /// Returns one more, for parts that hold buffers of their own.
  static FuzzPool& second() {
    static FuzzPool pool("second");
    return pool;
  }

  [[nodiscard]] rte_mempool& mempool() noexcept { return *pool_; }
  [[nodiscard]] std::uint32_t in_use() const noexcept {
    return rte_mempool_in_use_count(pool_.get());
  }

  /// Makes a packet of a frame, as a device hands it over. @return nullptr if no buffer is left
  /// @param guard  AddressSanitizer then reports an access to the buffer behind the frame: until
  ///               unguard(), so that nothing may make packets of its own meanwhile
  Packet* packet_of(std::span<const std::uint8_t> frame, bool guard) {
    Packet* packet = rte_pktmbuf_alloc(pool_.get());
    if (packet == nullptr) return nullptr;
    auto* const first = rte_pktmbuf_mtod(packet, std::uint8_t*);
    ASAN_UNPOISON_MEMORY_REGION(first, rte_pktmbuf_tailroom(packet));
    const auto bytes = static_cast<std::uint16_t>(
        std::min<std::size_t>(frame.size(), rte_pktmbuf_tailroom(packet)));
    std::ranges::copy(frame.first(bytes),
                      reinterpret_cast<std::uint8_t*>(rte_pktmbuf_append(packet, bytes)));
    meta(*packet) = PacketMeta{};
    meta(*packet).frame_bytes = static_cast<std::uint32_t>(frame.size());
    if (guard) {
      ASAN_POISON_MEMORY_REGION(first + bytes, rte_pktmbuf_tailroom(packet));
      guarded_.push_back(packet);
    }
    return packet;
  }

  void unguard() {
    for (Packet* packet : guarded_) ASAN_UNPOISON_MEMORY_REGION(packet->buf_addr, packet->buf_len);
    guarded_.clear();
  }

 private:
  explicit FuzzPool(const char* name) : pool_(make(name)) {}
  static Mempool make(const char* name) {
    static const TestEal eal;  // outlives the pools
    return make_packet_pool({.name = name, .mbufs = 1023, .frame_room_bytes = 2048});
  }

  Mempool pool_;
  std::vector<Packet*> guarded_;
};

/// Runs a whole program of a valid configuration: every buffer comes back.
/// @tparam Run  made of (FuzzInput&, FuzzPool&, const Config&), with a method run()
template <class Run, class Config>
void run_in_pool(FuzzInput& in, const Config& config) {
  FUZZ_REQUIRE(validate(config).empty());
  FuzzPool& pool = FuzzPool::get();
  Run(in, pool, config).run();
  FUZZ_REQUIRE(pool.in_use() == 0);
}

}  // namespace outrider::fuzz
