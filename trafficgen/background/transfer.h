#pragma once

#include <deque>
#include <string>
#include <vector>

#include "trafficgen/background/transfer_config.h"
#include "trafficgen/background/transfer_source.h"
#include "trafficgen/hosts/host.h"
#include "trafficgen/measure/goodput.h"

namespace outrider::tg {

/// Runs the transfers of one [[transfer]] over TCP. Transfers that this process opens follow one
/// another; those that are opened from outside are accepted as they come. A connection is one of
/// them once its handshake is complete and if it is from the other end's address: no SYN takes the
/// place of one. The sender closes after its last byte, the receiver when it has all of them.
///
/// Ends in this process are applications of their hosts; an end outside is known
/// by its address alone. Not thread-safe: the lcore of the hosts owns it.
class Transfer final : public TransferSource, private TimerClient, private Acceptor {
 public:
  struct Setup {
    TransferConfig config;
    Host* from = nullptr;  ///< nullptr: outside of this process
    Host* to = nullptr;
    std::uint32_t from_address = 0;
    std::uint32_t to_address = 0;
    TcpConfig tcp;
  };
  /// @param goodput records what receivers in this process get, as background
  Transfer(const Setup& setup, GoodputSeries& goodput);
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  /// Listens, too.
  void schedule() override;
  [[nodiscard]] bool finished() const noexcept override { return ended_ == attempts_.size(); }
  [[nodiscard]] std::size_t ended() const noexcept override { return ended_; }
  void fill(std::vector<TransferReport>& reports) const override;

 private:
  using Outcome = TransferOutcome;
  struct Attempt;
  /// Listens for connections whose handshake is not complete.
  struct Door final : ConnectionListener {
    explicit Door(Transfer& t) : transfer(t) {}
    void on_established(TcpConnection& c, Time now) noexcept override;
    void on_delivered(TcpConnection& /*c*/, Time /*now*/) noexcept override {}
    void on_closed(TcpConnection& /*c*/, Time /*now*/) noexcept override {}
    Transfer& transfer;
  };
  /// One connection's end in this process.
  struct End final : ConnectionListener {
    End(Attempt& a, Host& h, bool s) : attempt(a), host(h), sends(s) {}
    void on_established(TcpConnection& c, Time now) noexcept override;
    void on_delivered(TcpConnection& c, Time now) noexcept override;
    void on_closed(TcpConnection& c, Time now) noexcept override;
    [[nodiscard]] const TcpCounters& counters() const noexcept {
      return connection != nullptr ? connection->counters() : last;
    }
    [[nodiscard]] std::uint64_t progress() const noexcept {
      if (connection == nullptr) return final_bytes;
      return sends ? connection->stream().acked_bytes() : connection->receiver().delivered_bytes();
    }
    Attempt& attempt;
    Host& host;
    bool sends;
    bool closing = false;
    TcpConnection* connection = nullptr;
    std::uint64_t final_bytes = 0;  ///< progress() when the connection closed
    TcpCounters last;               ///< counters when the connection closed
  };
  struct Attempt {
    Attempt(Transfer& t, std::uint32_t i) : transfer(t), index(i) {}
    Transfer& transfer;
    std::uint32_t index;
    Outcome outcome = Outcome::kWaiting;
    std::optional<End> sender;  ///< if in this process
    std::optional<End> receiver;
    Time opened{}, established{}, ended{};
    bool was_established = false;
    std::uint64_t delivered = 0;  ///< already in the goodput series
    std::uint64_t progress = 0;   ///< value at the last check
    Time progress_at{};
    [[nodiscard]] bool over() const noexcept { return outcome > Outcome::kRunning; }
    [[nodiscard]] End* opener_end() noexcept;
    [[nodiscard]] End* listener_end() noexcept;
  };

  void on_timer(std::uint32_t tag, Time now) noexcept override;
  Offer accept(const FlowKey& flow) noexcept override;
  void on_accepted(TcpConnection& /*connection*/) noexcept override {}
  [[nodiscard]] Attempt* attempt_of(const FlowKey& flow) noexcept;

  void open(Attempt& attempt, Time now) noexcept;
  void watch(Time now) noexcept;
  void look_at(Attempt& attempt, Time now) noexcept;
  void end(Attempt& attempt, Outcome outcome, Time now) noexcept;
  void on_end_closed(End& e, TcpConnection& c, Time now) noexcept;
  [[nodiscard]] Host& opener_host() const noexcept;  ///< @pre it is in this process
  [[nodiscard]] bool opens() const noexcept;         ///< the opener is in this process
  [[nodiscard]] Host* listening_host() const noexcept;

  Setup setup_;
  GoodputSeries& goodput_;
  std::deque<Attempt> attempts_;  ///< made at start-up; ends never move
  Door door_{*this};
  /// If the opener is in this process: attempts that were opened. Else: those whose listening end
  /// has a connection.
  std::size_t begun_ = 0;
  std::size_t ended_ = 0;
};

}  // namespace outrider::tg
