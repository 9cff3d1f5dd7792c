#pragma once

#include <sys/resource.h>

#include <initializer_list>

namespace outrider::lab {

/// The processor time that this process, and those of its children that have ended, took since this
/// was made. Other work on the machine is not in it.
class ProcessorTime {
 public:
  [[nodiscard]] double seconds() const { return now() - began_; }

 private:
  static double now() {
    double sum = 0;
    for (const auto who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
      rusage used{};
      getrusage(who, &used);
      for (const timeval& part : {used.ru_utime, used.ru_stime})
        sum += static_cast<double>(part.tv_sec) + 1e-6 * static_cast<double>(part.tv_usec);
    }
    return sum;
  }

  double began_ = now();
};

}  // namespace outrider::lab
