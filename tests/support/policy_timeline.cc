#include "tests/support/policy_timeline.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <ostream>

namespace outrider {

namespace {

constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();

Time at(std::int64_t us) { return Time{std::chrono::microseconds(us)}; }

std::int64_t microseconds_of(Time t) {
  return t == kNever
             ? kNone
             : std::chrono::duration_cast<std::chrono::microseconds>(t.time_since_epoch()).count();
}

struct Unacknowledged {
  std::int64_t at_us = 0;
  std::uint32_t target = 0;
  std::uint64_t bytes = 0;
};

class Player {
 public:
  Player(tg::SendPolicy& policy, const std::vector<ReadyPiece>& pieces, const TimelineLink& link,
         std::int64_t begin_us)
      : policy_(policy),
        ready_(pieces),
        pieces_(gradient_pieces(pieces)),
        link_(link),
        begin_us_(begin_us),
        free_us_(begin_us) {}

  std::vector<HandedOut> run() {
    policy_.begin(at(begin_us_));
    for (std::int64_t now = next_us(); now != kNone; now = next_us()) {
      acknowledge(now);
      while (next_ < pieces_.size() && begin_us_ + ready_[next_].at_us <= now) {
        waiting_.push_back(pieces_[next_].index);
        const tg::GradientPiece& piece = pieces_[next_++];
        policy_.on_ready(piece, next_ == pieces_.size(), at(now));
      }
      hand_out(now);
      last_us_ = now;
    }
    return out_;
  }

 private:
  /// Returns the time of the next event. A wake-up that changed nothing must not come again.
  std::int64_t next_us() const {
    std::int64_t next = kNone;
    if (next_ < pieces_.size()) next = begin_us_ + ready_[next_].at_us;
    if (!unacknowledged_.empty()) next = std::min(next, unacknowledged_.front().at_us);
    const std::int64_t wake = microseconds_of(policy_.wake_at());
    return wake > last_us_ ? std::min(next, wake) : next;
  }
  void acknowledge(std::int64_t now) {
    for (; !unacknowledged_.empty() && unacknowledged_.front().at_us <= now;
         unacknowledged_.pop_front()) {
      const Unacknowledged& u = unacknowledged_.front();
      unacknowledged_bytes_ -= u.bytes;
      if (policy_.needs_acknowledgments()) policy_.on_acknowledged(u.target, u.bytes, at(now));
    }
  }
  void hand_out(std::int64_t now) {
    while (const auto s = policy_.next(at(now))) {
      if (link_.on_hand_out) link_.on_hand_out(waiting_, *s, unacknowledged_bytes_);
      std::erase(waiting_, s->piece);
      out_.push_back({now - begin_us_, s->piece});
      free_us_ = std::max(free_us_, now) + static_cast<std::int64_t>(s->bytes) * link_.us_per_byte;
      unacknowledged_.push_back({free_us_ + link_.ack_us, s->target, s->bytes});
      unacknowledged_bytes_ += s->bytes;
    }
  }

  tg::SendPolicy& policy_;
  const std::vector<ReadyPiece>& ready_;
  std::vector<tg::GradientPiece> pieces_;
  const TimelineLink& link_;
  std::int64_t begin_us_, free_us_;
  std::int64_t last_us_ = std::numeric_limits<std::int64_t>::min();
  std::size_t next_ = 0;
  std::vector<std::uint32_t> waiting_;
  std::deque<Unacknowledged> unacknowledged_;
  std::uint64_t unacknowledged_bytes_ = 0;
  std::vector<HandedOut> out_;
};

}  // namespace

std::string to_string(const HandedOut& h) {
  return "{" + std::to_string(h.at_us) + " us, piece " + std::to_string(h.piece) + "}";
}

void PrintTo(const HandedOut& h, std::ostream* out) { *out << to_string(h); }

std::vector<tg::GradientPiece> gradient_pieces(const std::vector<ReadyPiece>& pieces) {
  std::vector<tg::GradientPiece> out;
  for (std::uint32_t i = 0; i < pieces.size(); ++i)
    out.push_back({pieces[i].tensor, pieces[i].target, pieces[i].bytes, i});
  return out;
}

std::vector<HandedOut> play(tg::SendPolicy& policy, const std::vector<ReadyPiece>& pieces,
                            const TimelineLink& link, std::int64_t begin_us) {
  return Player(policy, pieces, link, begin_us).run();
}

}  // namespace outrider
