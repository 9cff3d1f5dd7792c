#include "trafficgen/streams/run/stream_preview.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace outrider::tg {

StreamPreview::StreamPreview(const StreamEngine::Setup& setup)
    : frame_(std::max(longest_stream_frame(setup.streams), kStreamHeadBytes)) {
  for (std::size_t i = 0; i < setup.streams.size(); ++i) {
    if (setup.streams[i].device.empty()) continue;
    const StreamConfig stream = until_end(setup, i);
    const std::uint32_t id = id_of(stream, i);
    StreamSchedule schedule(
        {.stream = stream, .line_rate = line_rate_of(setup, i), .seed = setup.seed, .index = id});
    StreamFrames frames(stream, id, std::make_shared<const StreamFlows>(stream), schedule.sizes());
    sending_.push_back({std::move(schedule), std::move(frames)});
  }
}

std::size_t StreamPreview::first() const noexcept {
  const auto due = [](const Sending& s) { return s.schedule.next(); };
  return static_cast<std::size_t>(std::ranges::min_element(sending_, {}, due) - sending_.begin());
}

Time StreamPreview::next() const noexcept {
  return sending_.empty() ? kNever : sending_[first()].schedule.next();
}

std::span<const std::uint8_t> StreamPreview::take() noexcept {
  Sending& s = sending_[first()];
  const Time due = s.schedule.next();
  Departure d{};
  s.schedule.take_due(due, {&d, 1});
  s.frames.write(frame_.data(), d, static_cast<std::uint64_t>(due.time_since_epoch().count()));
  return {frame_.data(), s.frames.buffer_bytes(d.size)};
}

}  // namespace outrider::tg
