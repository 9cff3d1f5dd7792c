#!/usr/bin/env python3
"""Every setting has a user, and `tools/dev/setting-users` finds users only where they are."""
import importlib.machinery
import importlib.util
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def load_tool():
    path = str(ROOT / "tools/dev/setting-users")
    sys.path.insert(0, str(ROOT / "tools/dev"))
    loader = importlib.machinery.SourceFileLoader("setting_users", path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


TOOL = load_tool()
NOBODY = ("outrider-switch", "switch.queue.nobody")  # a setting that there is not

TOML = """
[switch.regulation]
expiry = "1ms"
predict = { from = "traffic", idle_gap = "2ms" }  # with = in it

[[switch.port]]
queue = { limit_packets = 9 }
[[switch.port.queues]]
weight = 2.0
[[arm]]
switch.regulation.window.gain = 3.0
[[sweep]]
ddl.transport.roce.timeout = ["1ms"]
"""

CODE = """
TransportConfig made();
void f(SwitchPortConfig& port, Other& other) {
  port.regulation.predict.idle_gap = 1ms;
  other.expiry = 2ms;
  auto policy = RegulationPolicy{.lead = 1ms, .window = {.gain = 2}};
  if (port.scheduler == SchedulerKind::kDwrr) return;
}
"""


class SettingUsers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.users = TOOL.Users()
        cls.users.settings[NOBODY] = None
        cls.users.uses[NOBODY] = TOOL.collections.defaultdict(list)
        cls.users.find()

    def used_by(self, act):
        """The paths that get a user while `act` runs."""
        before = self.users.uses
        self.users.uses = {s: TOOL.collections.defaultdict(list) for s in self.users.settings}
        try:
            act()
            return {path for (_, path), uses in self.users.uses.items() if any(uses.values())}
        finally:
            self.users.uses = before

    def test_every_setting_has_one(self):
        self.assertEqual([s for s, uses in self.users.uses.items() if not any(uses.values())],
                         [NOBODY])

    def test_every_setting_is_bound_to_a_member(self):
        bound = set().union(*self.users.by_member.values())
        self.assertEqual([s for s in self.users.settings
                          if s not in bound and s[0] != "outrider-hostagent"], [NOBODY])

    def test_keys_of_files_are_found_in_their_tables(self):
        self.assertEqual(
            self.used_by(lambda: self.users.toml(TOML, "experiment", "a.toml")),
            {"switch.regulation.expiry", "switch.regulation.predict.from",
             "switch.regulation.predict.idle_gap", "switch.queue.limit_packets",
             "switch.queue.weight", "switch.regulation.window.gain", "transport.roce.timeout"})

    def test_members_are_found_in_their_structs(self):
        self.assertEqual(self.used_by(lambda: self.users.source(CODE, ".cc", "test", "a.cc")),
                         {"switch.regulation.predict.idle_gap", "switch.regulation.lead",
                          "switch.regulation.window.gain"})


if __name__ == "__main__":
    unittest.main()
