#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/core/histogram.h"
#include "common/core/random.h"
#include "trafficgen/background/request_config.h"
#include "trafficgen/background/request_report.h"
#include "trafficgen/hosts/host.h"
#include "trafficgen/measure/goodput.h"

namespace outrider::tg {

/// Runs the connections of one client host to one server host that send a request, receive an
/// answer, think and repeat. A connection that breaks is opened again after a second.
///
/// Identity: opened == open + closed. All memory is allocated at construction, except for the
/// hosts' connections. Not thread-safe: the lcore of the hosts owns it.
class RequestFlows final : private TimerClient, private Acceptor {
 public:
  struct Setup {
    RequestFlowsConfig config;
    std::string name;
    Host* from = nullptr;
    Host* to = nullptr;
    TcpConfig tcp;
    std::uint64_t seed = 1;
    std::uint32_t index = 0;  ///< entity of its random stream
  };
  RequestFlows(const Setup& setup, GoodputSeries& goodput);
  RequestFlows(const RequestFlows&) = delete;
  RequestFlows& operator=(const RequestFlows&) = delete;

  /// Listens and sets the timer of the first connection. Call it once.
  void schedule();
  [[nodiscard]] RequestReport report() const;
  [[nodiscard]] const std::string& name() const noexcept { return setup_.name; }
  [[nodiscard]] const RequestCounts& counts() const noexcept { return counts_; }

 private:
  struct Client final : ConnectionListener {
    void on_established(TcpConnection& c, Time now) noexcept override;
    void on_delivered(TcpConnection& c, Time now) noexcept override;
    void on_closed(TcpConnection& c, Time now) noexcept override;

    RequestFlows* flows = nullptr;
    TcpConnection* connection = nullptr;
    Time asked{};
    Time due = kNever;  ///< of the valid timer; other timers are of a broken connection
  };
  struct Server final : ConnectionListener {
    explicit Server(RequestFlows& f) : flows(f) {}
    void on_established(TcpConnection&, Time) noexcept override {}
    void on_delivered(TcpConnection& c, Time now) noexcept override;
    void on_closed(TcpConnection&, Time) noexcept override {}
    RequestFlows& flows;
  };

  void on_timer(std::uint32_t tag, Time now) noexcept override;
  void expect(std::uint32_t tag) noexcept override {
    if (tag < clients_.size() && clients_[tag].connection != nullptr)
      clients_[tag].connection->prefetch();
  }
  Offer accept(const FlowKey&) noexcept override {
    return {.config = &setup_.tcp, .listener = &server_};
  }
  void on_accepted(TcpConnection&) noexcept override {}

  void open_due(Time now) noexcept;
  void open(std::uint32_t index, Time now) noexcept;
  void ask(Client& client, Time now) noexcept;
  void wake(Client& client, Time at) noexcept;
  void answered(Client& client, Time now) noexcept;
  void keep(const RequestSample& sample) noexcept;
  [[nodiscard]] Time opens_at(std::uint32_t index) const noexcept;
  [[nodiscard]] std::uint32_t index_of(const Client& client) const noexcept {
    return static_cast<std::uint32_t>(&client - clients_.data());
  }

  Setup setup_;
  GoodputSeries& goodput_;
  Server server_{*this};
  std::vector<Client> clients_;  ///< [connections]
  std::uint32_t started_ = 0;    ///< clients that were told to open
  RandomStream think_;
  RequestReport counts_;
};

}  // namespace outrider::tg
