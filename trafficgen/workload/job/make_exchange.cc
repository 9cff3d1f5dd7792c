#include "trafficgen/workload/job/make_exchange.h"

#include "trafficgen/workload/exchange/mlt/mlt_exchange.h"
#include "trafficgen/workload/exchange/roce/roce_exchange.h"
#include "trafficgen/workload/exchange/tcp/tcp_exchange.h"

namespace outrider::tg {

std::unique_ptr<Exchange> make_exchange(const ExchangeSetup& setup,
                                        const std::optional<MltConfig>& mlt,
                                        const std::optional<RoceConfig>& roce, JobRecords& records,
                                        Exchange::Listener& listener) {
  if (mlt) return std::make_unique<MltExchange>(setup, *mlt, records, listener);
  if (roce) return std::make_unique<RoceExchange>(setup, *roce, records, listener);
  return std::make_unique<TcpExchange>(setup, records, listener);
}

}  // namespace outrider::tg
