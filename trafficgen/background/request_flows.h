#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include "common/core/histogram.h"
#include "common/core/random.h"
#include "trafficgen/background/request_config.h"
#include "trafficgen/background/request_report.h"
#include "trafficgen/channel/channel.h"
#include "trafficgen/hosts/host.h"
#include "trafficgen/measure/goodput.h"

namespace outrider::tg {

/// Runs the channels of one client host to one server host over which a request is sent, its answer
/// received, and after some thought the next one. A channel that ends is opened again after a
/// second.
///
/// Identity: opened == open + closed. All memory is allocated at construction, except for the
/// hosts' connections. Not thread-safe: the lcore of the hosts owns it.
class RequestFlows final : private TimerClient {
 public:
  struct Setup {
    RequestFlowsConfig config;
    std::string name;
    Host* from = nullptr;
    std::unique_ptr<Channels> channels{};  ///< from that host
    std::uint64_t seed = 1;
    std::uint32_t index = 0;  ///< entity of its random stream
  };
  RequestFlows(Setup setup, GoodputSeries& goodput);
  RequestFlows(const RequestFlows&) = delete;
  RequestFlows& operator=(const RequestFlows&) = delete;

  /// Listens and sets the timer of the first channel. Call it once.
  void schedule();
  [[nodiscard]] RequestReport report() const;
  [[nodiscard]] const std::string& name() const noexcept { return setup_.name; }
  [[nodiscard]] const RequestCounts& counts() const noexcept { return counts_; }
  [[nodiscard]] RoceCounters roce() const noexcept { return setup_.channels->roce(); }

 private:
  /// Both ends of one channel: bytes since it was opened say which request it is at.
  struct Client final : Channel::User {
    Client(RequestFlows& f, std::uint32_t i)
        : flows(f), index(i), channel(f.setup_.channels->make(*this)) {}
    void on_open(Channel&, Time now) noexcept override;
    void on_delivered(Channel&, ChannelSide at, std::uint64_t fresh_bytes,
                      Time now) noexcept override;
    void on_ended(Channel&, Time now) noexcept override;

    RequestFlows& flows;
    std::uint32_t index;  ///< and tag of its timers
    Channel& channel;
    bool opening = false;              ///< or open
    bool asking = false;               ///< an answer is outstanding
    bool open = false;                 ///< counted as such
    std::uint64_t question_bytes = 0;  ///< of the request under way, that have arrived
    std::uint64_t answer_bytes = 0;    ///< of its answer
    Time asked{};
    Time due = kNever;  ///< of the valid timer; other timers are of a channel that ended
  };

  void on_timer(std::uint32_t tag, Time now) noexcept override;
  void expect(std::uint32_t tag) noexcept override {
    if (tag < clients_.size()) clients_[tag].channel.prefetch();
  }

  void open_due(Time now) noexcept;
  void open(Client& client, Time now) noexcept;
  void ask(Client& client, Time now) noexcept;
  void wake(Client& client, Time at) noexcept;
  void answered(Client& client, Time now) noexcept;
  void keep(const RequestSample& sample) noexcept;
  [[nodiscard]] Time opens_at(std::uint32_t index) const noexcept;

  Setup setup_;
  GoodputSeries& goodput_;
  std::deque<Client> clients_;  ///< [connections], never moved
  std::uint32_t started_ = 0;   ///< clients that were told to open
  RandomStream think_;
  RequestReport counts_;
};

}  // namespace outrider::tg
