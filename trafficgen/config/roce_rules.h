#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/config/config_value.h"
#include "trafficgen/config/config.h"

namespace outrider::tg {

/// Names of hosts, by key.
using HostLists =
    std::initializer_list<std::pair<std::string_view, const std::vector<std::string>*>>;

/// Records every setting of TCP that was changed, as none acts with protocol "roce".
/// @param given,defaults TCP's settings, by key
void check_roce_transport(const Checks& at, const TransportConfig& transport,
                          const ConfigTable& given, const ConfigTable& defaults);

/// Records every setting of a job that its transport's protocol "roce" does not permit.
void check_roce_job(const Checks& at, const JobConfig& job, const TransportConfig& transport,
                    const GeneratorConfig& config);

/// Checks what a table of background needs over protocol "roce".
/// @param lists its lists of hosts, by key
void check_roce_background(const Checks& at, HostLists lists, const TransportConfig& transport,
                           const GeneratorConfig& config);

/// Checks what a [[transfer]] needs over protocol "roce".
/// @param from_is_host,to_is_host  whether `from` and `to` name hosts
void check_roce_transfer(const Checks& at, const TransferConfig& transfer, bool from_is_host,
                         bool to_is_host, const TransportConfig& transport,
                         const GeneratorConfig& config);

/// Checks that no two transfers have the same queue pair at a host.
void check_chosen_queue_pairs(const Checks& root, const GeneratorConfig& config);

/// Checks that the queue pairs of background are not too many, at a host and together.
void check_queue_pairs(const Checks& root, const GeneratorConfig& config);

}  // namespace outrider::tg
