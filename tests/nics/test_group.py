#!/usr/bin/env python3
"""Two NICs in one IOMMU group: with one of them left to the kernel, the other is refused by name
of its neighbour, and the command that is printed mends it."""
import guest

SCRIPT = r"""
modprobe e1000e
until ip -br link | grep -q eth1; do sleep 0.2; done
dpdk-devbind.py --bind=vfio-pci $near_a
cat >one.toml <<SWITCH
lcore = 0
[[device]]
name = "left"
device = "$near_a"
[[switch]]
name = "s"
[[switch.port]]
name = "left"
device = "left"
drain_rate = "10mbit"
SWITCH
sed "s/$near_a/$far_a/" one.toml >other.toml
outrider-doctor --json >shared.json
kept shared outrider-switch --config one.toml --duration 1s
python3 - shared.json >mend.sh <<'END'
import json, sys
for finding in json.load(open(sys.argv[1]))["findings"]:
    if finding["severity"] == "fail":
        print(finding["remedy"])
END
kept mend bash -ex mend.sh
outrider-doctor --json >mended.json
outrider-switch --config one.toml >switch.log 2>&1 &
switch=$!
until_says switch.log forwarding
kept second outrider-switch --config other.toml --duration 1s
kill -INT $switch
ended switch $switch
"""


class Group(guest.GuestTest):
    SCRIPT = SCRIPT
    FULL_ONLY = True
    MACHINE = {"model": "e1000e", "cables": 1, "one_device": True}

    def test_a_group_that_the_kernel_has_a_part_of_is_named_by_program_and_doctor(self):
        [finding] = [f for f in self.json("shared.json")["findings"] if f["severity"] == "fail"]
        self.assertEqual(finding["check"], "devices.0000:01:00.0")
        self.assertIn("0000:01:00.1 of the same IOMMU group", finding["cause"])
        self.assertEqual(self.status_of("shared"), 3)
        self.assertIn(finding["cause"], self.text("shared.txt"))
        self.assertIn(finding["remedy"], self.text("shared.txt"))

    def test_what_the_doctor_prints_mends_it(self):
        self.assertEqual(self.status_of("mend"), 0, self.text("mend.txt"))
        severities = {f["severity"] for f in self.json("mended.json")["findings"]
                      if f["check"].startswith("devices.0000")}
        self.assertEqual(severities, {"ok"})
        self.assertEqual(self.status_of("switch"), 0, self.text("switch.log"))

    def test_a_second_process_is_refused_the_same_group(self):
        self.assertEqual(self.status_of("second"), 3)
        self.assertIn("Another process has it, or another device of its IOMMU group",
                      self.text("second.txt"))


if __name__ == "__main__":
    guest.main()
