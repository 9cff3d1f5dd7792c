#include "trafficgen/measure/stream_report_json.h"
#include "trafficgen/streams/replay/replay_loop.h"

namespace outrider::tg {

namespace {
constexpr int kReplaySchema = 1;
}  // namespace

std::string to_json(const ReplayReport& r, const ReplayConfig& config) {
  Json out{{"kind", "replay"},
           {"schema_version", kReplaySchema},
           {"file", config.file},
           {"loops", config.loops},
           {"speed", config.speed},
           {"finished", !r.interrupted},
           {"frames", r.frames},
           {"padded", r.padded},
           {"skipped", r.skipped},
           {"backwards", r.backwards},
           {"rewritten", r.rewrites.rewritten},
           {"not_ipv4", r.rewrites.not_ipv4},
           {"untouched", r.rewrites.untouched},
           {"discarded", r.discarded},
           {"longest_poll_gap_ns", r.longest_poll_gap_ns}};
  out["sent"] = to_json_value(r.sent);
  return out.dump() + "\n";
}

std::string to_text(const ReplayReport& r) {
  StreamsReport one;
  one.streams = {r.sent};
  return "  file: " + std::to_string(r.frames) + " frames; padded " + std::to_string(r.padded) +
         ", skipped as too long " + std::to_string(r.skipped) + ", stamps that went backwards " +
         std::to_string(r.backwards) + "\n  addresses: rewritten " +
         std::to_string(r.rewrites.rewritten) + ", not IPv4 " +
         std::to_string(r.rewrites.not_ipv4) + ", in no prefix " +
         std::to_string(r.rewrites.untouched) + "\n" + to_text(one) +
         "  longest gap between two polls " +
         std::to_string(static_cast<double>(r.longest_poll_gap_ns) / 1e3) + " us\n";
}

}  // namespace outrider::tg
