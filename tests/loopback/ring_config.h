#pragma once

namespace outrider {

/// Two hosts of one process, joined by a ring of pointers, and a job between them that
/// does not end by itself. `duration`, if needed, goes before it.
inline constexpr const char* kRingHosts = R"(
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
iterations = 100000
compute = "20ms"
)";

}  // namespace outrider
