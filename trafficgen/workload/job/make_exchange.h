#pragma once

#include <memory>
#include <optional>

#include "trafficgen/mlt/mlt_config.h"
#include "trafficgen/roce/roce_config.h"
#include "trafficgen/workload/exchange/exchange.h"

namespace outrider::tg {

class JobRecords;

/// Makes the exchange: bounded loss if `mlt` is given, RoCEv2 if `roce` is, else TCP. Exchanges are
/// listed here only.
/// @param records,listener must outlive the result
std::unique_ptr<Exchange> make_exchange(const ExchangeSetup& setup,
                                        const std::optional<MltConfig>& mlt,
                                        const std::optional<RoceConfig>& roce, JobRecords& records,
                                        Exchange::Listener& listener);

}  // namespace outrider::tg
