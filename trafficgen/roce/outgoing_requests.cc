#include "trafficgen/roce/outgoing_requests.h"

#include <algorithm>

#include "common/net/roce.h"

namespace outrider::tg {

void OutgoingRequests::append(std::uint64_t bytes,
                              std::optional<std::uint32_t> immediate) noexcept {
  assert(bytes > 0);
  appended_bytes_ += bytes;
  if (open_.bytes == 0) open_ = {.first = end_, .address = appended_bytes_ - bytes};
  open_.bytes += bytes;
  end_ = open_.first + packets_of(open_.bytes);
  open_.immediate = immediate;
}

const OutgoingRequests::Request& OutgoingRequests::of(std::uint64_t packet,
                                                      std::size_t& place) noexcept {
  while (place < requests_.size()) {
    const Request& request = requests_.peek(place);
    if (packet < request.first + packets_of(request.bytes)) return request;
    ++place;
  }
  assert(open_.bytes > 0 && packet == open_.first);
  Request begun = open_;
  // Lengths have 32 bits; a longer burst is several messages.
  begun.bytes = std::min<std::uint64_t>(begun.bytes, roce::kMaxMessageBytes);
  if (begun.bytes < open_.bytes) begun.immediate.reset();
  open_.bytes -= begun.bytes;
  open_.address += begun.bytes;
  open_.first += packets_of(begun.bytes);
  requests_.push(begun);
  return requests_.peek(place);
}

std::size_t OutgoingRequests::acknowledge(std::uint64_t packet) noexcept {
  std::size_t done = 0;
  while (!requests_.empty()) {
    const Request& request = requests_.peek();
    if (packet < request.first + packets_of(request.bytes)) {
      if (packet > request.first)
        acknowledged_bytes_ = request.address + (packet - request.first) * path_mtu_;
      break;
    }
    acknowledged_bytes_ = request.address + request.bytes;
    (void)requests_.pop();
    ++done;
  }
  return done;
}

void OutgoingRequests::abandon() noexcept {
  while (!requests_.empty()) (void)requests_.pop();
  open_ = {};
  acknowledged_bytes_ = appended_bytes_;
}

}  // namespace outrider::tg
