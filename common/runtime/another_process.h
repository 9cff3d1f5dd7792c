#pragma once

#include <span>
#include <string>

namespace outrider {

/// Goes on in a child process, which has another process id. Returns in the child alone: the
/// calling process stands in for it, hands on the signals that it is sent, and ends as the child
/// ends. If it is killed, the child is too.
/// @pre no other thread runs
/// @throws std::runtime_error if there can be no child
void go_on_in_child();

/// Goes on in a process whose id gives every net_af_packet device a free fanout group, see
/// fanout_group_is_taken(): in this one, mostly.
/// @pre no other thread runs
void leave_taken_fanout_groups(std::span<const std::string> devices);

}  // namespace outrider
