#!/usr/bin/env python3
"""The files of docs/testbed.md, rehearsed: as they are by --check, and run with veth in
place of NICs and a hundredth of their rates."""
import re
import shutil
import subprocess

import lab
from two_hosts import SwitchTest

CONF = lab.HERE.parent.parent / "conf"


def rehearsal(file, devices):
    """@param devices  Linux device that each PCI address becomes, in order"""
    text = (CONF / file).read_text()
    for i, name in enumerate(devices):
        text = re.sub(r'"0000:[0-9a-f:.]+"', f'"net_af_packet{i},iface={name}"', text, count=1)
    assert "0000:" not in text
    text = re.sub(r'"\.\./models/', f'"{CONF}/models/', text)
    return text.replace('"9.5gbit"', '"95mbit"')


class Testbed(SwitchTest):
    def test_every_file_is_valid_as_it_is(self):
        # In a copy, as some need keys, which are made and not shipped.
        conf = shutil.copytree(CONF, self.lab.directory / "conf")
        for program, folder in ((lab.SWITCH, "switch"), (lab.GENERATOR, "trafficgen")):
            for file in sorted((conf / folder).glob("*.toml")):
                keys = re.findall(r'^[^#]*"([\w-]+\.key)"', file.read_text(), re.MULTILINE)
                for number, key in enumerate(keys):
                    subprocess.run([lab.SWITCH, "keygen", file.parent / key, "--id", str(number)],
                                   stdout=subprocess.DEVNULL, check=True)
                done = subprocess.run([program, "--config", file, "--check"], capture_output=True,
                                      text=True, check=False)
                self.assertEqual(done.returncode, 0, f"{file.name}: {done.stderr}")

    def test_hosts_at_either_side(self):
        for name, address in (("senders", "10.0.1.1/16"), ("receivers", "10.0.2.1/16")):
            self.host(name, address)
        self.start(rehearsal("switch/hosts-and-switch.toml", ["senders", "receivers"]))
        self.assertEqual(self.ping("senders", "10.0.2.1", lab.PATIENCE), 64)
        receiver = self.lab.peer(self.hosts["receivers"], "listen", "receive", "10.0.2.1", 7001,
                                 2_000_000, "ss=1", name="receiver")
        receiver.says("ready")
        sender = self.lab.peer(self.hosts["senders"], "connect", "send", "10.0.2.1", 7001,
                               2_000_000, name="sender")
        self.ended(sender, 0)
        self.ended(receiver, 0)
        self.assertEqual(receiver.result()["sha256"], receiver.result()["expected_sha256"])
        self.assertIn("ecnseen", receiver.result()["ss"].split())
        self.stop()
        self.assertGreater(sum(b["bytes"]["background"]
                               for b in self.queues["to_receivers"]["bins"]), 2_000_000)

    def test_generator_and_switch(self):
        far = self.lab.namespace("generator")
        for name in ("workers", "servers"):
            self.lab.cable(self.near, name, far, name, None)
        self.start(rehearsal("switch/two-nics.toml", ["workers", "servers"]))
        config = rehearsal("trafficgen/two-nics.toml", ["workers", "servers"])
        generator = self.lab.generator(far, 'duration = "3s"\n' + config)
        self.ended(generator, 0)
        self.stop()
        self.assertTrue(self.lab.report()["ledger_balanced"])
        queue = self.queues["to_servers"]
        self.assertGreater(queue["starts_armed"], 0)
        self.assertGreater(queue["transmitted_bytes"]["ddl"], 1_000_000)
        self.assertGreater(queue["transmitted_bytes"]["background"], 1_000_000)
        self.assertGreater(sum(queue["marks"]["background"].values()), 0)

    def test_an_isolated_cpu_is_no_obstacle(self):
        # Processes do not inherit CPUs that isolcpus= names, as here by taskset.
        if self.lab.cpus[0] == self.lab.cpus[1]:
            self.skipTest("one CPU alone")
        config = self.lab.write("isolated.toml", rehearsal("switch/hosts-and-switch.toml",
                                                           ["senders", "receivers"]))
        for name in ("senders", "receivers"):
            self.host(name)
        self.switch = lab.Process(self.lab, self.near,
                                  ["taskset", "-c", self.lab.cpus[0], lab.SWITCH, "--config",
                                   config, "--lcore", self.lab.cpus[1]], "switch")
        self.switch.says(f"forwarding on CPU {self.lab.cpus[1]};")
        self.switch.send(lab.signal.SIGINT)
        self.ended(self.switch, 0)


if __name__ == "__main__":
    lab.main()
