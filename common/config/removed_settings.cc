#include "common/config/removed_settings.h"

#include <string>

#include "common/config/setting_catalogue.h"

namespace outrider {
namespace {

struct Removed {
  std::string_view was;  ///< last parts of the path, without indices
  std::string_view now;
};

constexpr std::string_view kFromTarget = "is gone: it follows from target";
constexpr std::string_view kPaper = "is gone: the value of the paper holds";

constexpr Removed kRemoved[]{
    {"marker.pie.update_interval", kFromTarget},
    {"marker.pie.alpha", kFromTarget},
    {"marker.pie.beta", kFromTarget},
    {"marker.pie.burst_allowance", kFromTarget},
    {"marker.pi2.update_interval", kFromTarget},
    {"marker.pi2.alpha", kFromTarget},
    {"marker.pi2.beta", kFromTarget},
    {"predict.max_period", "is gone: pauses longer than 60s end what was learned"},
    {"window.release_rtts", "is gone: held windows open over one round trip"},
    {"beyond.base_rtt", "is gone: round trips through that queue are measured"},
    {"beyond.threshold_packets", "is gone: the threshold of the START holds there too"},
    {"transport.dctcp_gain", "is gone: it is 1/16, as in RFC 8257"},
    {"transport.dctcp_initial_alpha", "is gone: it is 1, as in RFC 8257"},
    {"transport.hystart_max_rtt_threshold", "is gone: it is 16ms, as in RFC 9406"},
    {"transport.timely_beta", kPaper},
    {"transport.timely_alpha", kPaper},
    {"transport.timely_hai_completions", kPaper},
    {"roce.rate", "is gone: controller \"fixed\" sends at the rate of the host's NIC"},
    {"swift.additive_increase", kPaper},
    {"swift.beta", kPaper},
    {"swift.max_decrease", kPaper},
    {"policy.bandwidth", "is gone: it is measured, see bandwidth_from and bandwidth_error"},
    {"flows.load_of", "is gone: load is a share of the receivers' NICs"},
    {"transport_memory.disorders", "is gone: it is one for each end, at most 131072"},
    {"tensorlights.floor_rate", "is gone: it is 100kbit"},
    {"ddl_queue.room", "is gone: with switch.share_limit the two queues share the limit of one"},
    {"background_queue.room",
     "is gone: with switch.share_limit the two queues share the limit of one"},
    {"stream.sweep", "is gone: outrider-trafficgen ndr --frame-bytes takes several sizes"},
    {"stream.sweep_packets", "is gone, with sweep"},
};

}  // namespace

std::string_view removed_setting(std::string_view key) {
  const std::string path = '.' + without_indices(key);
  for (const auto& [was, now] : kRemoved)
    if (path.ends_with(was) && path[path.size() - was.size() - 1] == '.') return now;
  return {};
}

}  // namespace outrider
