#!/usr/bin/env python3
"""An Intel NIC behind an IOMMU: what the doctor finds is true, what it prints mends the machine,
what keeps a program from starting is named, and the quick experiment runs."""
import guest

SCRIPT = r"""
configure
outrider-doctor --json >bare.json
modprobe e1000e
until ip -br link | grep -q eth3; do sleep 0.2; done
outrider-doctor --json >kernel-driver.json
kept kernel-driver outrider-switch --config switch.toml --duration 1s
sed "s/$near_b/0000:0f:00.0/" switch.toml >nowhere.toml
kept nowhere outrider-switch --config nowhere.toml --duration 1s

# every command that the doctor prints for memory and devices, as it prints it
python3 - kernel-driver.json >mend.sh <<'END'
import json, sys
for finding in json.load(open(sys.argv[1]))["findings"]:
    check = finding["check"]
    if finding["remedy"] and (check == "memory.huge_pages" or check.startswith("devices.")):
        print(finding["remedy"].splitlines()[0])
END
kept mend bash -ex mend.sh
outrider-doctor --json >mended.json
kept start outrider-switch --config switch.toml --duration 1s --verbose
quick
"""


class E1000e(guest.GuestTest):
    SCRIPT = SCRIPT
    MACHINE = {"model": "e1000e", "cables": 2}

    def devices(self, name):
        return [f for f in self.json(name)["findings"] if f["check"].startswith("devices.0000")]

    def test_the_doctor_finds_the_iommu_and_the_drivers(self):
        self.assertEqual(self.finding("bare.json", "devices.iommu")["severity"], "ok")
        for before, words in (("bare.json", "no driver"), ("kernel-driver.json", "e1000e")):
            found = self.devices(before)
            self.assertEqual(len(found), 4, found)
            for finding in found:
                self.assertIn(words, finding["cause"])

    def test_what_the_doctor_prints_mends_the_machine(self):
        self.assertEqual(self.finding("bare.json", "memory.huge_pages")["severity"], "note")
        self.assertEqual(self.status_of("mend"), 0, self.text("mend.txt"))
        self.assertEqual(self.finding("mended.json", "memory.huge_pages")["severity"], "ok")
        for finding in self.devices("mended.json"):
            self.assertEqual(finding["severity"], "ok", finding)

    def test_a_device_of_the_kernel_is_refused_with_the_command_that_binds_it(self):
        self.assertEqual(self.status_of("kernel-driver"), 3)
        self.assertRegex(self.text("kernel-driver.txt"), r"dpdk-devbind.py --bind=vfio-pci 0000:")

    def test_an_address_without_a_device_is_refused_with_those_that_exist(self):
        self.assertEqual(self.status_of("nowhere"), 3)
        self.assertIn("0000:0f:00.0", self.text("nowhere.txt"))
        self.assertIn("0000:01:00.0", self.text("nowhere.txt"))

    def test_the_switch_starts_on_huge_pages(self):
        self.assertEqual(self.status_of("start"), 0, self.text("start.txt"))
        self.assertIn("--in-memory", self.text("start.txt"))

    def test_the_quick_experiment_runs(self):
        self.quick_experiment_ran()


if __name__ == "__main__":
    guest.main()
