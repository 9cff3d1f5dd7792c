"""Linux hosts in namespaces of their own, each behind a port of one outrider-switch."""
import json
import struct
import sys

import lab

PREFIX = "10.76.0."

# A learning switch that marks: to be formatted, and followed by its ports.
MARKING_SWITCH = """
[[switch]]
name = "s"
[switch.l2]
learning = true
[switch.queue]
limit_packets = {limit}
[switch.marker]
kind = "{marker}"
threshold_packets = {threshold}
"""


class SwitchTest(lab.LabTest):
    """A namespace for the switch, and hosts that are cabled to it one by one."""

    def setUp(self):
        super().setUp()
        self.near = self.lab.namespace("switch")
        self.hosts = {}
        self.switch = None

    def host(self, name, address=None):
        """Behind device `name` of the switch's namespace. @return its namespace"""
        address = address or f"{PREFIX}{len(self.hosts) + 1}/24"
        self.hosts[name] = self.lab.linux_host(self.near, name, address, name)
        return self.hosts[name]

    def mac(self, name):
        return lab.Lab.run_in(self.hosts[name], "cat", "/sys/class/net/eth0/address").strip()

    def start(self, config):
        self.switch = self.lab.switch(self.near, config)
        self.switch.says("forwarding on CPU")

    def stop(self):
        """@return the switch's report, after an exit that found every packet's end"""
        self.switch.send(lab.signal.SIGINT)
        self.ended(self.switch, 0)
        report = self.lab.report("switch")
        self.assertTrue(report["ledger_balanced"])
        self.queues = {q["port_name"]: q for q in report["queues"]}
        return report

    def ping(self, name, address, seconds=1, **options):
        """@return TTL of the answer, None without one in `seconds`"""
        words = repr((address, options, seconds))
        code = (f"import sys, json; sys.path.insert(0, {str(lab.HERE)!r}); import lab; "
                f"a, o, s = {words}; print(json.dumps(lab.ping_for(s, a, **o)))")
        return json.loads(self.lab.run_in(self.hosts[name], sys.executable, "-c", code))


def devices(names):
    """TOML of a device on the cable to each host, polled by af_packet."""
    return "".join(f"""
[[device]]
name = "{name}"
device = "net_af_packet{i},iface={name}"
""" for i, name in enumerate(names))


def ports(names, **keys):
    """TOML of a port for each device; `keys` go to all of them."""
    lines = "".join(f"{key} = {value}\n" for key, value in keys.items())
    return "".join(f"""
[[switch.port]]
name = "{name}"
device = "{name}"
{lines}""" for name in names)


def start_message(threshold, source_port, destination_port, due_ns=0, burst_bytes=0, iteration=1,
                  sequence=1):
    """A START of the UDP form, as common/net/udp_signal.h lays it out."""
    return struct.pack("!IBBHHHIQQHHIQ16x", 0x4F525347, 1, 1, threshold, 1, 0, iteration,
                       burst_bytes, due_ns, source_port, destination_port, sequence, iteration)
