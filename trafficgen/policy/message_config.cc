#include "trafficgen/policy/message_config.h"

namespace outrider::tg {

namespace {

constexpr Duration kMostMessageTime = std::chrono::milliseconds(10);

}  // namespace

void check(const Checks& at, const MessageConfig& c, bool by_tensor) {
  const auto needs_tensors = [&](std::string_view key, Duration time) {
    at.require(by_tensor || time == Duration::zero(), key, format_duration(time),
               "needs granularity \"tensor\": a server that waits for a whole shard does not tell "
               "messages apart");
  };
  needs_tensors("worker_time", c.worker_time);
  needs_tensors("server_time", c.server_time);
  at.require(!c.blocks || c.worker_time > Duration::zero(), "blocks", "true",
             "needs worker_time above 0s: nothing blocks for no time");
}

void describe(Settings& v, MessageConfig& c) {
  v.duration("worker_time", c.worker_time,
             {.range = durations(Duration::zero(), kMostMessageTime),
              .accepts = "above 0 needs `granularity = \"tensor\"`",
              .help = "[of a worker's sending thread](jobs.md#what-a-message-costs) for each "
                      "message, before it leaves"});
  v.duration("server_time", c.server_time,
             {.range = durations(Duration::zero(), kMostMessageTime),
              .accepts = "above 0 needs `granularity = \"tensor\"`",
              .help = "of a server's receiving thread for each message, before it is gathered"});
  v.value("blocks", c.blocks,
          {.accepts = "needs `worker_time` above 0",
           .help = "the worker's computing stands still during `worker_time`"});
}

}  // namespace outrider::tg
