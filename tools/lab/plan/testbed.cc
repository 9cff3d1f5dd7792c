#include "tools/lab/plan/testbed.h"

#include <algorithm>

#include "common/config/checks.h"
#include "common/config/config_file.h"
#include "common/config/file_kind.h"
#include "common/config/process_checks.h"

namespace outrider::lab {
namespace {

void check(const Checks& at, const ProgramSite& site) {
  at.require(!site.host || (!site.host->empty() && !site.host->starts_with('-')), "host",
             Checks::quoted(site.host.value_or("")), "must be a host's name or address");
  at.require(!site.directory.empty(), "directory", "\"\"", "must not be empty");
}

}  // namespace

ConfigIssues validate(const Testbed& testbed) {
  ConfigIssues issues;
  const Checks root(issues);
  check(root.below("switch"), testbed.sw);
  check(root.below("trafficgen"), testbed.trafficgen);
  root.require(
      testbed.sw.host != testbed.trafficgen.host || testbed.sw.lcore != testbed.trafficgen.lcore,
      "trafficgen.lcore", std::to_string(testbed.trafficgen.lcore),
      "must not be switch.lcore: a poll loop needs a CPU of its own");
  root.require(!testbed.remote_shell.empty(), "remote_shell", "\"\"", "must not be empty");
  if (testbed.devices.empty()) root.fault("device", "there must be at least one [[device]]");
  UniqueValues<std::string> names, at_switch, at_trafficgen;
  for (std::size_t i = 0; i < testbed.devices.size(); ++i) {
    const auto& device = testbed.devices[i];
    const Checks at = root.below("device", i);
    const std::string holder = join_key("", "device", i);
    names.add(at, "name", device.name, Checks::quoted(device.name), holder);
    if (device.sw) at_switch.add(at, "switch", *device.sw, Checks::quoted(*device.sw), holder);
    at_trafficgen.add(at, "trafficgen", device.trafficgen, Checks::quoted(device.trafficgen),
                      holder);
    at.require(!device.sw || !device.sw->empty(), "switch", "\"\"",
               "must be a PCI address or a vdev");
    if (device.sw.has_value() != testbed.devices.front().sw.has_value())
      at.fault("switch", "all devices have it, or none where the switch is not outrider-switch");
    at.require(!device.trafficgen.empty(), "trafficgen", "\"\"", "must be a PCI address or a vdev");
  }
  return issues;
}

ConfigResult<Testbed> load_testbed(const std::string& path) {
  return load_config<Testbed>(path, FileKind::kTestbed);
}

bool has_switch(const Testbed& testbed) {
  return !testbed.devices.empty() && testbed.devices.front().sw.has_value();
}

ConfigIssues missing_devices(const Testbed& testbed, const Case& c) {
  ConfigIssues issues;
  for (const auto& device : c.switches.devices)
    if (std::ranges::find(testbed.devices, device.name, &TestbedDevice::name) ==
        testbed.devices.end())
      issues.push_back({"device", "there is none named \"" + device.name +
                                      "\", the switch of that name has hosts"});
  if (!has_switch(testbed))
    issues.push_back({"device", "none has `switch`: this runs outrider-switch"});
  return issues;
}

Case on_testbed(const Testbed& testbed, Case c) {
  const auto of = [&](const std::string& name) -> const TestbedDevice& {
    return *std::ranges::find(testbed.devices, name, &TestbedDevice::name);
  };
  if (has_switch(testbed))
    for (auto& device : c.switches.devices) device.device = *of(device.name).sw;
  for (auto& device : c.traffic.devices) device.device = of(device.name).trafficgen;
  c.switches.lcore = testbed.sw.lcore;
  c.traffic.lcore = testbed.trafficgen.lcore;
  return c;
}

}  // namespace outrider::lab
