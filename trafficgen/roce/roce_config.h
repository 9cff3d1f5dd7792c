#pragma once

#include <cstdint>
#include <optional>

#include "common/config/checks.h"
#include "common/config/config_binding.h"
#include "common/core/clock.h"
#include "common/core/units.h"
#include "common/net/roce.h"
#include "common/net/roce_telemetry.h"

namespace outrider::tg {

/// The controller of a queue pair's sending rate.
enum class RoceController : std::uint8_t {
  kDcqcn,
  kFixed,  ///< the NIC's rate, whatever the network says
  kHpcc,
  kSwift,
};

/// How lost packets are repaired: which are sent again, and whether those behind them are kept.
enum class RoceRepair : std::uint8_t {
  kGoBackN,    ///< InfiniBand's reliable connection
  kSelective,  ///< as IRN (Mittal et al., SIGCOMM 2018)
};

inline constexpr auto kRoceOperations = choices<roce::Operation>(
    {{"write", roce::Operation::kWrite}, {"send", roce::Operation::kSend}});
inline constexpr auto kRoceRepairs = choices<RoceRepair>(
    {{"go_back_n", RoceRepair::kGoBackN}, {"selective", RoceRepair::kSelective}});
inline constexpr auto kRoceControllers =
    choices<RoceController>({{"dcqcn", RoceController::kDcqcn},
                             {"fixed", RoceController::kFixed},
                             {"hpcc", RoceController::kHpcc},
                             {"swift", RoceController::kSwift}});

/// [transport.roce.dcqcn]: the reaction point of DCQCN. The defaults are those that Zhu et al.
/// (SIGCOMM 2015, sections 3 and 5) give for 40 Gbit/s. `hyper_increase` and `least_rate` are not
/// in the paper: it names the former without a value and has no lower limit.
struct DcqcnConfig {
  double g = 1.0 / 256;  ///< weight of a new sample in alpha, in (0, 1)
  Duration alpha_timer = std::chrono::microseconds(55);     ///< time without CNP that lowers alpha
  Duration increase_timer = std::chrono::microseconds(55);  ///< T
  std::uint64_t increase_bytes = 10'000'000;                ///< B: what the byte counter counts
  std::uint32_t recovery_stages = 5;                        ///< F
  BitRate additive_increase{40'000'000};                    ///< R_AI
  BitRate hyper_increase{400'000'000};                      ///< R_HAI
  BitRate least_rate{10'000'000};

  bool operator==(const DcqcnConfig&) const = default;
};

/// [transport.roce.swift]: Swift (Kumar et al., SIGCOMM 2020, section 3). Windows are in packets.
struct SwiftConfig {
  Duration base_target = std::chrono::microseconds(25);    ///< round trip that is wanted
  Duration scaling_range = std::chrono::microseconds(50);  ///< most that flow scaling adds
  double scaling_least_window = 0.1;  ///< fs_min_cwnd: that and less have all of the range
  double scaling_most_window = 100;   ///< fs_max_cwnd: that and more have none

  bool operator==(const SwiftConfig&) const = default;
};

/// [transport.roce.hpcc]: HPCC (Li et al., SIGCOMM 2019, section 3). The defaults are those of the
/// paper's section 5.1, but for `base_rtt`, which is the network's.
struct HpccConfig {
  double eta = 0.95;                                  ///< use of a link that is wanted, in (0, 1]
  std::uint32_t max_stage = 5;                        ///< additive steps in a row
  std::uint32_t additive_bytes = 80;                  ///< W_AI
  Duration base_rtt = std::chrono::microseconds(25);  ///< T

  bool operator==(const HpccConfig&) const = default;
};

inline constexpr std::uint32_t kNoRnrLimit = 7;  ///< as InfiniBand codes it

/// [transport.roce]: settings of RoCEv2.
struct RoceConfig {
  roce::Operation operation = roce::Operation::kWrite;  ///< that carries bursts
  RoceRepair repair = RoceRepair::kGoBackN;
  RoceController controller = RoceController::kDcqcn;
  std::uint32_t window_packets = 1024;               ///< sent and not acknowledged, at most
  std::uint32_t ack_packets = 8;                     ///< data packets from one ACK to the next
  Duration timeout = std::chrono::milliseconds(67);  ///< silence after which it sends again
  std::uint32_t retry_limit = 7;                     ///< such silences in a row before it gives up
  /// RNR NAKs in a row after which it sends again; kNoRnrLimit: any number.
  std::uint32_t rnr_retry = kNoRnrLimit;
  Duration cnp_interval = std::chrono::microseconds(50);  ///< shortest time between CNPs of a pair
  /// From the arrival of a packet with CE to its CNP, as NICs take for it.
  Duration cnp_delay{};
  std::uint32_t dscp = 0;  ///< of data and acknowledgments
  std::uint32_t cnp_dscp = 48;
  /// Whose pause frames stop CNPs; absent: they have the transport's, and its turn at the NIC.
  std::optional<std::uint8_t> cnp_priority{};
  DcqcnConfig dcqcn{};
  SwiftConfig swift{};
  HpccConfig hpcc{};

  bool operator==(const RoceConfig&) const = default;
};

/// Returns the bytes of telemetry that each data packet carries.
[[nodiscard]] constexpr std::uint32_t telemetry_bytes_of(const RoceConfig& roce) noexcept {
  return roce.controller == RoceController::kHpcc ? roce::kTelemetryBytes : 0;
}

void check(const Checks& at, const RoceConfig& roce);
void check(const Checks& at, const DcqcnConfig& dcqcn);
void check(const Checks& at, const SwiftConfig& swift);

void describe(Settings& v, RoceConfig& c);
void describe(Settings& v, DcqcnConfig& c);
void describe(Settings& v, SwiftConfig& c);
void describe(Settings& v, HpccConfig& c);

}  // namespace outrider::tg
