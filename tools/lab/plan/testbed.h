#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/config/config_binding.h"
#include "common/config/config_result.h"
#include "tools/lab/experiment/case.h"

namespace outrider::lab {

/// Says where one of the two programs runs.
struct ProgramSite {
  std::optional<std::string> host{};  ///< argument of ssh; absent: this machine
  /// Path there. Empty: in the directory of outrider-lab on this machine, by PATH on another.
  std::string program{};
  std::uint32_t lcore = 0;  ///< CPU of its poll loop
  std::string eal{};        ///< further arguments of the EAL, as for --eal
  /// On another machine: directory for configurations and reports, below the home directory.
  std::string directory = "outrider-testbed";
};

/// One device of an experiment and what stands for it at each end of the cable. It is named
/// after the switch to which its hosts are attached.
struct TestbedDevice {
  std::string name;
  /// "switch": PCI address or vdev string; absent: the device under test is not outrider-switch
  std::optional<std::string> sw{};
  std::string trafficgen;  ///< the same at the generator's end
};

/// Holds one testbed file: the hardware that stands for the devices of an experiment. The
/// programs may be on one machine or on two.
struct Testbed {
  ProgramSite sw{};
  ProgramSite trafficgen{};
  std::vector<TestbedDevice> devices{};
  std::string remote_shell = "ssh";  ///< with its own options, e.g. "ssh -p 2222"
};

ConfigIssues validate(const Testbed& testbed);
ConfigResult<Testbed> load_testbed(const std::string& path);

/// Returns whether outrider-switch is at the other end of the testbed's cables.
[[nodiscard]] bool has_switch(const Testbed& testbed);

/// Returns a fault for each device of a case that the testbed does not have, by the testbed's
/// keys.
ConfigIssues missing_devices(const Testbed& testbed, const Case& c);

/// Returns the case with the testbed's devices and CPUs. @pre missing_devices() is empty
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
  v.value("switch", c.sw);
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
