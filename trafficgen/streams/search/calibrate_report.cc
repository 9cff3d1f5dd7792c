#include <cstdio>

#include "trafficgen/measure/stream_report_json.h"
#include "trafficgen/streams/search/calibrate_loop.h"

namespace outrider::tg {
namespace {

constexpr int kCalibrationSchema = 1;
constexpr double kQuantiles[] = {0.01, 0.1,   0.25,   0.5,     0.75,     0.9,
                                 0.99, 0.999, 0.9999, 0.99999, 0.999999, 1};

Json cdf_of(const Histogram& h) {
  Json cdf = Json::array();
  if (h.count() == 0) return cdf;
  for (const double q : kQuantiles) cdf.push_back({q, h.quantile(q)});
  return cdf;
}

unsigned long long at(const Histogram& h, double q) {
  return h.count() == 0 ? 0 : static_cast<unsigned long long>(h.quantile(q));
}

}  // namespace

std::string to_json(const Calibration& calibration, const CalibrateOptions& options) {
  Json out{{"kind", "calibration"},
           {"schema_version", kCalibrationSchema},
           {"device", options.device},
           {"frame_bytes", options.frame_bytes},
           {"flows", options.flows},
           {"duration_ns", options.duration.count()},
           {"finished", !calibration.interrupted},
           {"maximum_packets_per_second", calibration.maximum_packets_per_second}};
  out["rates"] = Json::array();
  for (const auto& r : calibration.rates) {
    Json rate = to_json_value(r);
    rate["lateness_cdf_ns"] = cdf_of(r.lateness_ns);
    rate["gap_error_cdf_ns"] = cdf_of(r.gap_error_ns);
    out["rates"].push_back(std::move(rate));
  }
  return out.dump() + "\n";
}

std::string to_text(const Calibration& calibration) {
  char line[256];
  std::snprintf(line, sizeof line, "maximum %.3f Mpps\n",
                calibration.maximum_packets_per_second / 1e6);
  std::string text = line;
  text +=
      "   requested     achieved   error    late [ns]                     gap error [ns]\n"
      "        Mpps         Mpps       %       p50       p99       max       p50       p90"
      "       p99     p99.9       max\n";
  for (const auto& r : calibration.rates) {
    const double error = 100 * (r.achieved_packets_per_second / r.requested_packets_per_second - 1);
    std::snprintf(line, sizeof line,
                  "%12.6f %12.6f %+7.3f %9llu %9llu %9llu %9llu %9llu %9llu %9llu %9llu\n",
                  r.requested_packets_per_second / 1e6, r.achieved_packets_per_second / 1e6, error,
                  at(r.lateness_ns, 0.5), at(r.lateness_ns, 0.99), at(r.lateness_ns, 1),
                  at(r.gap_error_ns, 0.5), at(r.gap_error_ns, 0.9), at(r.gap_error_ns, 0.99),
                  at(r.gap_error_ns, 0.999), at(r.gap_error_ns, 1));
    text += line;
  }
  return text;
}

}  // namespace outrider::tg
