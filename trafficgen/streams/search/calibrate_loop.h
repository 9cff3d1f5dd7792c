#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/core/clock.h"
#include "trafficgen/measure/stream_report.h"
#include "trafficgen/streams/run/stream_process.h"

namespace outrider::tg {

struct CalibrateOptions {
  std::string device = "net_null0";  ///< vdev; one that returns packets gives latencies too
  std::vector<std::uint64_t> rates;  ///< [packets/s]; empty: 1 kpps to 90 % of the maximum
  Duration duration = std::chrono::seconds(1);  ///< of each rate
  std::uint32_t frame_bytes = 64;
  std::uint32_t flows = 1000;
  std::uint32_t lcore = 1;
};

/// The file that calibrate would need if it needed one.
GeneratorConfig calibrate_config(const CalibrateOptions& options);

struct Calibration {
  double maximum_packets_per_second = 0;  ///< achieved when asked for far more
  std::vector<StreamReport> rates;        ///< one for each rate tried
  bool interrupted = false;
};

/// Measures what the generator achieves on this machine: the maximum first, then
/// each rate.
Calibration run_calibration(const CalibrateOptions& options, StreamProcess& process);

/// Rates from 1 kpps in decades, then 10 % to 90 % of `maximum`. Pure.
std::vector<std::uint64_t> calibrate_rates(double maximum_packets_per_second);

std::string to_json(const Calibration& calibration, const CalibrateOptions& options);
std::string to_text(const Calibration& calibration);

}  // namespace outrider::tg
