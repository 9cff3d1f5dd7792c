#include "tools/lab/search/pareto_front.h"

#include <algorithm>
#include <cmath>

namespace outrider::lab {

namespace {

bool known(const FrontPoint& p) noexcept { return !std::isnan(p.time) && !std::isnan(p.cost); }

}  // namespace

bool dominates(const FrontPoint& a, const FrontPoint& b) noexcept {
  return a.time <= b.time && a.cost <= b.cost && (a.time < b.time || a.cost < b.cost);
}

std::vector<std::size_t> pareto_front(std::span<const FrontPoint> points) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < points.size(); ++i)
    if (known(points[i])) order.push_back(i);
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
    if (points[a].time != points[b].time) return points[a].time < points[b].time;
    if (points[a].cost != points[b].cost) return points[a].cost < points[b].cost;
    return a < b;
  });
  std::vector<std::size_t> front;
  for (const std::size_t i : order)
    if (front.empty() || points[i].cost < points[front.back()].cost) front.push_back(i);
  return front;
}

// The area is a staircase. Each point of the front adds the strip between its cost and that of
// the point before it, from its time to the reference's.
double dominated_area(std::span<const FrontPoint> points, const FrontPoint& reference) {
  double area = 0;
  double below = reference.cost;
  for (const std::size_t i : pareto_front(points)) {
    const FrontPoint& p = points[i];
    if (p.time >= reference.time) break;
    if (p.cost >= below) continue;
    area += (reference.time - p.time) * (below - p.cost);
    below = p.cost;
  }
  return area;
}

}  // namespace outrider::lab
