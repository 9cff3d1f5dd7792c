#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/config/config_binding.h"
#include "common/config/config_result.h"
#include "tools/lab/experiment/case.h"

namespace outrider::lab {

/// Where one of the two programs runs.
struct ProgramSite {
  std::optional<std::string> host{};  ///< what ssh is given; absent: this machine
  /// Path there. Empty: beside outrider-lab on this machine, found by PATH on another.
  std::string program{};
  std::uint32_t lcore = 0;  ///< CPU of its poll loop
  std::string eal{};        ///< further arguments of the EAL, as of --eal
  /// On another machine: for configurations and reports, from the home directory.
  std::string directory = "outrider-testbed";
};

/// What one device of an experiment, named after the switch that its hosts are behind, is
/// at either end of the cable.
struct TestbedDevice {
  std::string name;
  std::string sw;          ///< "switch": PCI address or vdev string
  std::string trafficgen;  ///< the same
};

/// Which hardware stands for the devices of an experiment. The programs may be on one
/// machine or on two. One file.
struct Testbed {
  ProgramSite sw{};
  ProgramSite trafficgen{};
  std::vector<TestbedDevice> devices{};
  std::string remote_shell = "ssh";  ///< with its own options, e.g. "ssh -p 2222"
};

ConfigIssues validate(const Testbed& testbed);
ConfigResult<Testbed> load_testbed(const std::string& path);

/// Devices of a case that the testbed does not have: a fault of each, by the testbed's keys.
ConfigIssues missing_devices(const Testbed& testbed, const Case& c);

/// The case with the testbed's devices and CPUs. @pre missing_devices() is empty
Case on_testbed(const Testbed& testbed, Case c);

// Bindings, see common/config/config_binding.h.

template <class V>
void describe(V& v, ProgramSite& c) {
  v.value("host", c.host);
  v.value("program", c.program);
  v.value("lcore", c.lcore);
  v.value("eal", c.eal);
  v.value("directory", c.directory);
}

template <class V>
void describe(V& v, TestbedDevice& c) {
  v.value("name", c.name, Presence::kRequired);
  v.value("switch", c.sw, Presence::kRequired);
  v.value("trafficgen", c.trafficgen, Presence::kRequired);
}

template <class V>
void describe(V& v, Testbed& c) {
  v.table("switch", c.sw);
  v.table("trafficgen", c.trafficgen);
  v.value("remote_shell", c.remote_shell);
  v.tables("device", c.devices);
}

}  // namespace outrider::lab
