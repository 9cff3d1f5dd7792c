#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "common/core/random.h"
#include "common/runtime/event_loop.h"
#include "trafficgen/channel/channel.h"

namespace outrider {

/// Channels without a network, for tests of what uses them: bytes arrive in clumps of random sizes
/// after random times, some of which are long; and all end when the test says so. Hosts are not
/// looked at.
class FakeChannels final : public tg::Channels {
 public:
  FakeChannels(EventLoop& loop, std::uint64_t seed) : loop_(loop), seed_(seed) {}

  tg::Channel& make(tg::Channel::User& user) override {
    Fake& channel = add();
    channel.serve(user);
    return channel;
  }
  void stock(std::uint32_t channels) override {
    for (std::uint32_t i = 0; i < channels; ++i) free_.push_back(&add());
  }
  [[nodiscard]] tg::Channel* lend(tg::Channel::User& user, tg::HostPair /*pair*/) override {
    if (free_.empty()) free_.push_back(&add());
    Fake* channel = free_.back();
    free_.pop_back();
    channel->serve(user);
    return channel;
  }
  void give_back(tg::Channel& channel) noexcept override {
    free_.push_back(static_cast<Fake*>(&channel));
  }
  [[nodiscard]] std::unique_ptr<tg::IdealTimes> ideal_times() const override {
    return std::make_unique<FakeIdealTimes>();
  }
  /// Ends all channels that are open, and each that is opened until heal().
  void die(Time now) {
    for (Fake& channel : channels_) channel.die(now);
  }
  void heal() {
    for (Fake& channel : channels_) channel.heal();
  }

 private:
  /// Every flow takes its ideal.
  struct FakeIdealTimes final : tg::IdealTimes {
    std::optional<std::int64_t> ideal_ns(const tg::FlowTimes& flow) noexcept override {
      return flow.took_ns;
    }
  };
  class Fake final : public tg::Channel, public EventSource {
   public:
    Fake(EventLoop& loop, std::uint64_t seed, std::uint32_t entity)
        : loop_(loop), id_(loop.add(*this)), random_(seed, entity, RandomPurpose::kTest) {}
    void serve(User& user) noexcept { user_ = &user; }

    bool open(Time now) noexcept override {
      opening_ = true;
      sends_last_ = false;
      if (!keeps_counts_)
        for (End& end : ends_) end.delivered = 0;
      schedule(now);
      return true;
    }
    void send(tg::ChannelSide from, std::uint64_t bytes, Time now) noexcept override {
      End& end = at(from);
      if (end.waiting == 0) end.first_sent.reset();
      end.waiting += bytes;
      schedule(now);
    }
    void send_last(std::uint64_t bytes, Time now) noexcept override {
      sends_last_ = true;
      send(tg::ChannelSide::kNear, bytes, now);
    }
    void tell_idle() noexcept override { tells_idle_ = true; }
    void keep_counts() override { keeps_counts_ = true; }
    [[nodiscard]] std::optional<Time> first_sent_at(tg::ChannelSide from) const noexcept override {
      return ends_[static_cast<std::size_t>(from)].first_sent;
    }
    [[nodiscard]] tg::FlowCounts counts(tg::ChannelSide from) const noexcept override {
      return {.delivered_bytes = ends_[static_cast<std::size_t>(from)].delivered};
    }

    Time fire(Time now) noexcept override {
      due_ = kNever;
      if (freeing_) {
        freeing_ = false;
        user_->on_free(*this, now);
      } else if (opening_) {
        opening_ = false;
        if (dead_) end(now);
        else {
          open_ = true;
          user_->on_open(*this, now);
          schedule(now);
        }
      } else if (open_ && !dead_) {
        deliver_from(tg::ChannelSide::kNear, now);
        if (open_) deliver_from(tg::ChannelSide::kFar, now);
      }
      return due_;
    }
    void die(Time now) {
      dead_ = true;
      if (open_ || opening_) end(now);
    }
    void heal() { dead_ = false; }

   private:
    struct End {
      std::uint64_t waiting = 0, delivered = 0;
      std::optional<Time> first_sent{};
    };
    [[nodiscard]] std::uint64_t below(std::uint64_t bound) noexcept {
      return static_cast<std::uint64_t>(random_.uniform() * static_cast<double>(bound));
    }
    [[nodiscard]] End& at(tg::ChannelSide side) noexcept {
      return ends_[static_cast<std::size_t>(side)];
    }
    void deliver_from(tg::ChannelSide from, Time now) noexcept {
      End& end = at(from);
      if (end.waiting == 0) return;
      if (!end.first_sent) end.first_sent = now;
      const std::uint64_t bytes = 1 + below(std::min<std::uint64_t>(end.waiting, 100'000));
      end.waiting -= bytes;
      end.delivered += bytes;
      user_->on_delivered(*this, tg::peer_of(from), bytes, now);
      if (end.waiting != 0) return schedule(now);
      if (tells_idle_) user_->on_idle(*this, from, now);
      if (sends_last_ && from == tg::ChannelSide::kNear) this->end(now);
    }
    void end(Time now) noexcept {
      open_ = opening_ = false;
      for (End& end : ends_) end.waiting = 0;
      user_->on_ended(*this, now);
      if (!sends_last_) return;
      freeing_ = true;
      schedule(now);
    }
    void schedule(Time now) noexcept {
      const bool stalls = below(20) == 0;
      const Time at = now + std::chrono::microseconds(1 + below(stalls ? 5'000 : 50));
      if (at >= due_) return;
      due_ = at;
      loop_.schedule(id_, due_);
    }

    EventLoop& loop_;
    SourceId id_;
    User* user_ = nullptr;
    RandomStream random_;
    std::array<End, 2> ends_{};
    Time due_ = kNever;
    bool opening_ = false, open_ = false, tells_idle_ = false, dead_ = false;
    bool sends_last_ = false, freeing_ = false, keeps_counts_ = false;
  };

  [[nodiscard]] Fake& add() {
    return channels_.emplace_back(loop_, seed_, static_cast<std::uint32_t>(channels_.size()));
  }

  EventLoop& loop_;
  std::uint64_t seed_;
  std::deque<Fake> channels_;
  std::vector<Fake*> free_;
};

}  // namespace outrider
