#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace outrider {

template <class E>
struct Choice {
  std::string_view name;
  E value;
};

/// Lists the names of an enum's values, for Settings::choice().
template <class E, std::size_t n>
constexpr std::array<Choice<E>, n> choices(const Choice<E> (&names)[n]) {
  return std::to_array(names);
}

}  // namespace outrider
