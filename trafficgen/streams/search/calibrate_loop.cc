#include "trafficgen/streams/search/calibrate_loop.h"

#include <cmath>
#include <iostream>

namespace outrider::tg {
namespace {

constexpr std::uint64_t kFarTooFast = 1'000'000'000;  // packets/s

}  // namespace

GeneratorConfig calibrate_config(const CalibrateOptions& options) {
  GeneratorConfig config;
  config.lcore = options.lcore;
  config.devices.push_back({.name = "loop", .device = options.device});
  StreamConfig stream;
  stream.name = "calibrate";
  stream.device = "loop";
  // net_null makes up packets when it is asked to receive; no other device does.
  if (!options.device.starts_with("net_null")) stream.receive_device = "loop";
  stream.rate = StreamRate{StreamRate::Unit::kPackets, kFarTooFast};
  stream.frame_bytes = options.frame_bytes;
  stream.flows = options.flows;
  stream.source = "198.18.0.1";  // RFC 2544, appendix C.2.2: for benchmarks
  stream.destination = "198.19.0.1";
  stream.duration = options.duration;
  config.streams.push_back(stream);
  return config;
}

std::vector<std::uint64_t> calibrate_rates(double maximum) {
  std::vector<std::uint64_t> rates;
  for (double rate = 1000; rate < maximum * 0.1; rate *= 10)
    rates.push_back(static_cast<std::uint64_t>(rate));
  for (const double share : {0.1, 0.3, 0.5, 0.7, 0.8, 0.9})
    if (const double rate = std::floor(share * maximum); rate >= 1)
      rates.push_back(static_cast<std::uint64_t>(rate));
  return rates;
}

Calibration run_calibration(const CalibrateOptions& options, StreamProcess& process) {
  Calibration result;
  const GeneratorConfig config = calibrate_config(options);
  const auto run = [&](std::uint64_t rate) {
    StreamConfig stream = config.streams[0];
    stream.rate->value = rate;
    StreamEngine engine = process.engine({stream}, options.duration);
    result.interrupted = process.run(engine, options.duration).interrupted;
    StreamReport report = engine.report().streams[0];
    std::cout << "  asked for " << report.requested_packets_per_second / 1e6 << " Mpps, achieved "
              << report.achieved_packets_per_second / 1e6 << " Mpps" << std::endl;
    return report;
  };
  result.maximum_packets_per_second = run(kFarTooFast).achieved_packets_per_second;
  const auto rates =
      options.rates.empty() ? calibrate_rates(result.maximum_packets_per_second) : options.rates;
  for (const std::uint64_t rate : rates) {
    if (result.interrupted) break;
    result.rates.push_back(run(rate));
  }
  return result;
}

}  // namespace outrider::tg
