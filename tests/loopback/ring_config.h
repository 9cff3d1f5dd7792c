#pragma once

#include <string>

namespace outrider {

/// Two hosts of one process, joined by a ring of pointers, and a job between them whose
/// `iterations` and `compute` follow. `duration`, if needed, goes before it.
inline const std::string kRingJob = R"(
lcore = 0
send_jitter = 0.0
[[device]]
name = "loop"
device = "net_ring0"
[[host]]
name = "a"
address = "10.0.1.10"
device = "loop"
rate = "100mbit"
[[host]]
name = "b"
address = "10.0.2.10"
device = "loop"
rate = "100mbit"
[[transport]]
name = "tcp"
[[job]]
name = "train"
workers = ["a"]
servers = ["b"]
transport = "tcp"
burst_bytes = "50kB"
)";

/// The same with a job that does not end by itself.
inline const std::string kRingHosts = kRingJob + "iterations = 100000\ncompute = \"20ms\"\n";

}  // namespace outrider
