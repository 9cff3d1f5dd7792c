#pragma once

#include "common/config/config_writer.h"

namespace outrider::sw {

/// Returns whether two structs agree in every key. Not for the packet path.
/// @param a,b  copies: describe() takes what it visits by reference
template <class T>
bool same_settings(T a, T b) {
  ConfigTable tables[2];
  ConfigWriter first(tables[0]), second(tables[1]);
  describe(static_cast<Settings&>(first), a);
  describe(static_cast<Settings&>(second), b);
  return tables[0] == tables[1];
}

}  // namespace outrider::sw
