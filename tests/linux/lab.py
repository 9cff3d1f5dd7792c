"""Network namespaces, programs and configurations of the tests with Linux hosts.

Everything made here has a random name and is removed by that name, or by process
id, when the test ends, however it ends.
"""
import atexit
import json
import os
import pathlib
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

SKIPPED = 77  # ctest's SKIP_RETURN_CODE
HERE = pathlib.Path(__file__).resolve().parent
PEER = str(HERE / "peer.py")
SWITCH = os.environ.get("OUTRIDER_SWITCH_PROGRAM", "build/release/bin/outrider-switch")
GENERATOR = os.environ.get("OUTRIDER_TRAFFICGEN_PROGRAM", "build/release/bin/outrider-trafficgen")
# What a program built with LeakSanitizer does not have to answer for.
ENVIRONMENT = dict(os.environ, LSAN_OPTIONS=f"suppressions={HERE / 'leaks.supp'}:print_suppressions=0")
# An agent would go on as that user, who may not enter a test's directory.
ENVIRONMENT.pop("SUDO_UID", None)
PATIENCE = 40  # seconds; of failing tests: a passing one never waits so long


def run(*words):
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(words)}: {done.stderr.strip()}")
    return done.stdout


def why_not():
    """What this machine lacks for namespaces and af_packet, or None."""
    for tool in ("ip", "ss", "ethtool"):
        if shutil.which(tool) is None:
            return f"{tool} is not installed (tools/setup installs it)"
    name = "or-probe-" + secrets.token_hex(3)
    try:
        run("ip", "netns", "add", name)
    except RuntimeError as error:
        return f"no network namespaces: {error}"
    try:
        probe = "import socket; socket.socket(socket.AF_PACKET, socket.SOCK_RAW)"
        run("ip", "netns", "exec", name, sys.executable, "-c", probe)
        run("ip", "-n", name, "link", "add", "veth-a", "type", "veth", "peer", "name", "veth-b")
    except RuntimeError as error:
        return f"no packet sockets or veth: {error}"
    finally:
        subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True)
    return None


def two_cpus():
    allowed = sorted(os.sched_getaffinity(0))
    return allowed[0], allowed[-1]


class Process:
    """A program in a namespace, its output in a file; killed at the end if it still runs."""

    def __init__(self, lab, namespace, words, name):
        self.log = lab.directory / f"{name}.log"
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(  # pylint: disable=consider-using-with
                ["ip", "netns", "exec", namespace, *map(str, words)], stdout=log,
                stderr=subprocess.STDOUT, env=ENVIRONMENT)
        lab.processes.append(self)

    def output(self):
        return self.log.read_text(errors="replace")

    def says(self, text, timeout=PATIENCE):
        end = time.monotonic() + timeout
        while text not in self.output():
            if self.process.poll() is not None and text not in self.output():
                raise AssertionError(f"ended without saying {text!r}:\n{self.output()}")
            if time.monotonic() > end:
                raise AssertionError(f"did not say {text!r}:\n{self.output()}")
            time.sleep(0.01)

    def wait(self, timeout=PATIENCE):
        try:
            return self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"still runs after {timeout} s:\n{self.output()}") from None

    def send(self, number):
        if self.process.poll() is None:
            self.process.send_signal(number)

    def kill(self):
        self.send(signal.SIGKILL)
        self.process.wait()

    def result(self):
        """Last JSON line of a peer."""
        return json.loads(self.output().strip().splitlines()[-1])


class Lab:
    """Namespaces that exist as long as a test."""

    def __init__(self):
        self.tag = secrets.token_hex(3)
        self.namespaces = []
        self.processes = []
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="outrider-linux-"))
        self.cpus = two_cpus()
        atexit.register(self.close)

    def namespace(self, name):
        full = f"or-{name}-{self.tag}"
        run("ip", "netns", "add", full)
        self.namespaces.append(full)
        run("ip", "-n", full, "link", "set", "lo", "up")
        self.sysctl(full, "net.ipv6.conf.all.disable_ipv6=1", "net.ipv6.conf.default.disable_ipv6=1")
        return full

    @staticmethod
    def sysctl(namespace, *settings):
        for setting in settings:
            key, value = setting.split("=")
            path = "/proc/sys/" + key.replace(".", "/")
            code = f"open({path!r}, 'w').write({value!r})"
            run("ip", "netns", "exec", namespace, sys.executable, "-c", code)

    @staticmethod
    def cable(a, a_device, b, b_device, address):
        """A veth pair from namespace `a` to a Linux host in `b`, ready for both; without an
        address, to another program there."""
        run("ip", "link", "add", a_device, "netns", a, "type", "veth", "peer", "name", b_device,
            "netns", b)
        for namespace, device in ((a, a_device), (b, b_device)):
            run("ip", "netns", "exec", namespace, "ethtool", "-K", device, "tx", "off", "gso",
                "off", "gro", "off", "tso", "off")
            run("ip", "-n", namespace, "link", "set", device, "up")
        if address is not None:
            run("ip", "-n", b, "address", "add", address, "dev", b_device)

    def linux_host(self, near, device, address, name="linux"):
        """A host at the far end of `device` of namespace `near`. ECN is negotiated."""
        host = self.namespace(name)
        self.cable(near, device, host, "eth0", address)
        self.sysctl(host, "net.ipv4.tcp_ecn=1")
        return host

    def silent_host(self, suffix=""):
        """A namespace for the generator, and at the end of its `cable` a host without an address,
        whose Linux therefore answers nothing. @return both, and the host's MAC address"""
        near = self.namespace("near" + suffix)
        host = self.linux_host(near, "cable", None, "linux" + suffix)
        return near, host, self.run_in(host, "cat", "/sys/class/net/eth0/address").strip()

    def write(self, name, text):
        path = self.directory / name
        path.write_text(text)
        return path

    def generator(self, namespace, config, name="generator"):
        return Process(self, namespace,
                       [GENERATOR, "--config", self.write(f"{name}.toml", config), "--report",
                        self.directory / f"{name}.json", "--lcore", self.cpus[1]], name)

    def switch(self, namespace, config, name="switch"):
        return Process(self, namespace,
                       [SWITCH, "--config", self.write(f"{name}.toml", config), "--report",
                        self.directory / f"{name}.json", "--lcore", self.cpus[0]], name)

    def peer(self, namespace, *words, name="peer"):
        return Process(self, namespace, [sys.executable, PEER, *words], name)

    def report(self, name="generator"):
        return json.loads((self.directory / f"{name}.json").read_text())

    @staticmethod
    def call(module, call):
        """Words that call a function of a test's module, in another process."""
        code = f"import sys; sys.path.insert(0, {str(HERE)!r}); import {module} as t; t.{call}"
        return [sys.executable, "-c", code]

    @staticmethod
    def run_in(namespace, *words):
        return run("ip", "netns", "exec", namespace, *map(str, words))

    @staticmethod
    def delete_link(namespace, device):
        run("ip", "-n", namespace, "link", "del", device)

    def close(self):
        atexit.unregister(self.close)
        for process in self.processes:
            if process.process.poll() is None:
                process.kill()
        for namespace in self.namespaces:
            subprocess.run(["ip", "netns", "del", namespace], check=False, capture_output=True)
        shutil.rmtree(self.directory, ignore_errors=True)
        self.processes, self.namespaces = [], []


class LabTest(unittest.TestCase):
    def setUp(self):
        self.lab = Lab()
        self.addCleanup(self.lab.close)

    def ended(self, process, status):
        actual = process.wait()
        self.assertEqual(actual, status, process.output())


def ping(address, payload=b"outrider", ttl=64):
    """In a namespace: one ICMP echo over a raw socket. Returns the TTL of the answer, or None."""
    s = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
    s.settimeout(1)
    s.setsockopt(socket.IPPROTO_IP, socket.IP_TTL, ttl)
    message = bytearray(b"\x08\x00\x00\x00\x00\x07\x00\x01" + payload)
    total = sum(int.from_bytes(message[i:i + 2], "big") for i in range(0, len(message), 2))
    total = (total & 0xFFFF) + (total >> 16)
    message[2:4] = (~total & 0xFFFF).to_bytes(2, "big")
    s.sendto(message, (address, 0))
    try:
        while True:
            packet, sender = s.recvfrom(2048)
            if sender[0] == address and packet[20] == 0 and packet[28:] == payload:
                return packet[8]
    except OSError:  # nobody answers, or nobody answers ARP
        return None


def ping_for(seconds, address, size=8, ttl=64):
    """Pings until there is an answer, for so long. Returns its TTL, or None."""
    end = time.monotonic() + seconds
    while (answer := ping(address, bytes(size), ttl)) is None and time.monotonic() < end:
        pass
    return answer


def main():
    """Runs the tests of the calling file, or says why they cannot run here."""
    def end(number, _frame):
        sys.exit(128 + number)  # atexit cleans up

    signal.signal(signal.SIGTERM, end)
    reason = why_not()
    if reason is not None:
        print(f"skipped: {reason}")
        sys.exit(SKIPPED)
    unittest.main(verbosity=2)
