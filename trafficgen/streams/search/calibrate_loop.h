#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/core/clock.h"
#include "trafficgen/measure/stream_report.h"
#include "trafficgen/streams/run/stream_process.h"

namespace outrider::tg {

struct CalibrateOptions {
  std::string device = "net_null0";  ///< vdev; latencies only if it returns packets
  std::vector<std::uint64_t> rates;  ///< [packets/s]; empty: 1 kpps to 90 % of the maximum
  Duration duration = std::chrono::seconds(1);  ///< per rate
  std::uint32_t frame_bytes = 64;
  std::uint32_t flows = 1000;
  std::uint32_t lcore = 1;
};

/// Returns the configuration of a calibration, which has no file.
GeneratorConfig calibrate_config(const CalibrateOptions& options);

struct Calibration {
  double maximum_packets_per_second = 0;  ///< achieved when far more was requested
  std::vector<StreamReport> rates;        ///< one per tried rate
  bool interrupted = false;
};

/// Measures which rates the generator achieves on this machine: the maximum first, then each rate.
Calibration run_calibration(const CalibrateOptions& options, StreamProcess& process);

/// Returns rates from 1 kpps in decades, then 10 % to 90 % of the maximum. Pure.
std::vector<std::uint64_t> calibrate_rates(double maximum_packets_per_second);

std::string to_json(const Calibration& calibration, const CalibrateOptions& options);
std::string to_text(const Calibration& calibration);

}  // namespace outrider::tg
