"""Linux hosts behind outrider-switch, for a scenario of the lab: plain sockets in two network
namespaces, one for each leaf, with the addresses that the lab gave its emulated hosts.

Each namespace runs this file as a program whose work is one JSON argument.
"""
import contextlib
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import threading
import time

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path += [str(TESTS / "linux"), str(TESTS / "hosts")]

# pylint: disable=wrong-import-position
import lab
import short_flows
from port_capture import PortCapture
from two_hosts import start_message

BLOCK = bytes(1 << 16)
SIGNAL_PORT = 5900
SHORT_BYTES = 100_000  # of a flow that counts as short, at most
# TCP_REPAIR and what it lets a privileged process read (linux/tcp.h)
TCP_REPAIR, TCP_REPAIR_QUEUE, TCP_QUEUE_SEQ = 19, 20, 21
REPAIR_ON, REPAIR_OFF_NO_PROBE, SEND_QUEUE = 1, -1, 2


# -- in a namespace

def make_socket(work):
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, work["controller"].encode())
    return s


def sink(connection, work, burst_bytes):
    """Says when each `burst_bytes` have come; negative: never."""
    received = 0
    with connection:
        while True:
            if work["quickack"]:
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)
            data = connection.recv(1 << 16)
            if not data:
                return
            before = received
            received += len(data)
            if burst_bytes > 0 and received // burst_bytes > before // burst_bytes:
                print(json.dumps({"delivered": time.monotonic_ns()}), flush=True)


def listen(work, address, port, burst_bytes):
    s = make_socket(work)
    s.bind((address, port))
    s.listen()

    def serve():
        while True:
            connection, _ = s.accept()
            threading.Thread(target=sink, args=(connection, work, burst_bytes), daemon=True).start()
    threading.Thread(target=serve, daemon=True).start()


def listen_short(work):
    listeners = []
    for address in work["short"]["to"]:
        s = make_socket(work)
        s.bind((address, work["short"]["port"]))
        s.listen(1024)
        listeners.append(s)
    threading.Thread(target=short_flows.receive, args=(listeners,), daemon=True).start()


def long_flow(work, source, target, port, wait):
    time.sleep(wait)
    s = make_socket(work)
    s.bind((source, 0))
    s.connect((target, port))
    while True:
        s.sendall(BLOCK)


def next_sequence(connection):
    """@return the sequence number of the next byte of an idle connection"""
    def option(name, value):
        connection.setsockopt(socket.IPPROTO_TCP, name, value)
    option(TCP_REPAIR, REPAIR_ON)
    option(TCP_REPAIR_QUEUE, SEND_QUEUE)
    sequence = connection.getsockopt(socket.IPPROTO_TCP, TCP_QUEUE_SEQ)
    option(TCP_REPAIR, REPAIR_OFF_NO_PROBE)
    return sequence % (1 << 32)


class Bursts:
    """Sends the bursts of a worker: on one connection, or each on its own."""

    def __init__(self, work, source, target, port):
        self.work, self.source, self.target, self.port = work, source, target, port
        self.kept = None if work["connection"] == "new" else self.connect()
        self.first = next_sequence(self.kept) if work["announce"] else 0
        self.signals = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.signals.bind((source, SIGNAL_PORT))

    def connect(self):
        s = make_socket(self.work)
        s.bind((self.source, 0))
        s.connect((self.target, self.port))
        return s

    def announce(self, number):
        """Sends the START of a burst on the connection that is kept."""
        work, own_port = self.work, self.kept.getsockname()[1]
        message = start_message(work["h_packets"], own_port, self.port,
                                due_ns=round(1e9 * work["lead"]), burst_bytes=work["burst_bytes"],
                                iteration=number + 1,
                                sequence=(self.first + number * work["burst_bytes"]) % (1 << 32))
        self.signals.sendto(message, (self.target, SIGNAL_PORT))

    def send(self):
        s = self.kept or self.connect()
        print(json.dumps({"sent": time.monotonic_ns()}), flush=True)
        s.sendall(bytes(self.work["burst_bytes"]))
        if s is not self.kept:
            s.shutdown(socket.SHUT_WR)
            s.recv(1)
            s.close()


def sleep_until(at):
    time.sleep(max(0, at - time.monotonic()))


def run_host(work):
    """Runs a namespace's sockets. Receivers never end; senders end after their bursts."""
    os.sched_setaffinity(0, {work["cpu"]})
    # Else a thread that has slept waits until others have used up their time, some milliseconds, and
    # acknowledgments may wait for the receiver's thread.
    os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(5))
    for address, port, burst_bytes in work["listeners"]:
        listen(work, address, port, burst_bytes)
    if work["short"] and not work["flows"]:
        listen_short(work)
    print(json.dumps({"ready": True}), flush=True)
    if not work["flows"]:
        signal.pause()
    if work["short"]:
        threading.Thread(target=short_flows.send, daemon=True,
                         args=(lambda: make_socket(work), work["short"], work["seed"])).start()
    for i, flow in enumerate(work["flows"]):
        wait = work["start_spread"] * i / len(work["flows"])
        threading.Thread(target=long_flow, args=(work, *flow, wait), daemon=True).start()
    began = time.monotonic()
    bursts = Bursts(work, *work["burst"])
    for i in range(work["iterations"]):
        due = began + work["warm_up"] + i * work["period"]
        if work["announce"]:
            sleep_until(due - work["lead"])
            bursts.announce(i)
        sleep_until(due)
        bursts.send()
    sleep_until(began + work["warm_up"] + work["iterations"] * work["period"])
    os._exit(0)


# -- around the namespaces

@contextlib.contextmanager
def dctcp(program):
    """DCTCP for all namespaces, as the BPF program of outrider-hostagent."""
    with subprocess.Popen([program, "dctcp"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True) as agent:
        said = ""
        for line in agent.stdout:
            said += line
            if "registered" in line:
                break
        assert "registered" in said, said
        try:
            yield
        finally:
            agent.send_signal(signal.SIGINT)


def lines_of(process, key):
    return [json.loads(line)[key] for line in process.output().splitlines() if f'"{key}"' in line]


def short_of(traffic, addresses):
    """@return what short_flows.py sends and receives; None: nothing"""
    [group] = traffic.get("flows", [None])
    if group is None:
        return None
    assert group["rate"].endswith("bit"), group["rate"]
    return {"from": [addresses[h] for h in group["from"]],
            "to": [addresses[h] for h in group["to"]], "port": group["tcp_port"], "sizes": str(TESTS.parent / group["distribution"]),
            "bits_per_second": float(group["rate"].removesuffix("bit"))}


class Run:
    """One run of Linux hosts behind the switches of a case of the lab.

    @param switch, traffic  configurations that the lab wrote for the case, with their "text"
    @param work  see run_host()
    @param measured  the port, as "switch.port"
    @param captures  if its packets are looked at: mean_train is what this says of the file
    """

    def __init__(self, switch, traffic, work, measured, captures=None):
        self.burst_times_s, self.short_times_s, self.report, self.capture = [], [], None, None
        self.mean_queue_packets, self.mean_train = 0.0, None
        addresses = {h["name"]: h["address"] for h in traffic["host"]}
        job, flows = traffic["job"][0], traffic["long_flows"][0]
        server = addresses[job["servers"][0]]
        listeners = [(server, job["tcp_port"], work["burst_bytes"])]
        background = []
        for source, target in zip(flows["from"], flows["to"]):
            listeners.append((addresses[target], flows["tcp_port"], -1))
            background.append((addresses[source], addresses[target], flows["tcp_port"]))
        self.lab = lab.Lab()
        # The switch polls on another CPU.
        work = {**work, "short": short_of(traffic, addresses), "cpu": self.lab.cpus[1]}
        self.senders = {**work, "listeners": [], "flows": background,
                        "burst": (addresses[job["workers"][0]], server, job["tcp_port"])}
        self.receivers = {**work, "listeners": listeners, "flows": []}
        self.total_s = work["warm_up"] + work["iterations"] * work["period"]
        try:
            self.run(switch, traffic, measured, captures)
        finally:
            self.lab.close()

    def namespaces(self, near, switch, traffic):
        """@return the leaves' namespaces, and the switch's configuration on their cables"""
        text, leaves = switch["text"], []
        for i, device in enumerate(switch["device"]):
            text = text.replace(device["device"], f"net_af_packet{i},iface=cable{i}")
            linux = self.lab.namespace(f"leaf{i}")
            own = [h["address"] for h in traffic["host"] if h["device"] == device["name"]]
            self.lab.cable(near, f"cable{i}", linux, "eth0", own[0] + "/32")
            for address in own[1:]:
                lab.run("ip", "-n", linux, "address", "add", address + "/32", "dev", "eth0")
            lab.run("ip", "-n", linux, "route", "add", "0.0.0.0/0", "dev", "eth0")
            if self.senders["one_segment"]:
                lab.run("ip", "-n", linux, "link", "set", "eth0", "gso_max_segs", "1")
            self.lab.sysctl(linux, "net.ipv4.tcp_ecn=1", "net.ipv4.tcp_no_metrics_save=1",
                            "net.ipv4.conf.all.arp_announce=1")
            leaves.append(linux)
        return leaves, text

    def start(self, namespace, name, work):
        words = [sys.executable, __file__, json.dumps(work)]
        process = lab.Process(self.lab, namespace, words, name)
        process.says("ready")
        return process

    def run(self, switch, traffic, measured, captures):
        near = self.lab.namespace("near")
        leaves, text = self.namespaces(near, switch, traffic)
        file = self.lab.directory / "port.pcapng"
        more = ["--capture", f"{measured}={file}", "--capture-packets", 10_000_000,
                "--capture-bytes", "2GB"] if captures else []
        program = lab.Process(self.lab, near,
                              [lab.SWITCH, "--config", self.lab.write("switch.toml", text), "--report",
                               self.lab.directory / "switch.json", "--lcore", self.lab.cpus[0], *more],
                              "switch")
        program.says("forwarding")
        time.sleep(0.3)
        receivers = self.start(leaves[1], "receivers", self.receivers)
        senders = self.start(leaves[0], "senders", self.senders)
        assert senders.wait(self.total_s + 10) == 0, senders.output()
        program.send(signal.SIGINT)
        assert program.wait() == 0, program.output()
        sent, delivered = lines_of(senders, "sent"), lines_of(receivers, "delivered")
        # The last burst may be cut by the end.
        assert 0 <= len(sent) - len(delivered) <= 1, (len(sent), len(delivered))
        self.burst_times_s = [(d - s) / 1e9 for s, d in zip(sent, delivered)]
        self.short_times_s = short_flows.completions_s(
            lines_of(senders, "short"), lines_of(receivers, "short_end"), SHORT_BYTES)
        self.report = self.lab.report("switch")
        self.measure(measured)
        if captures:
            self.mean_train = captures(file)
            self.capture = PortCapture(file, self.senders["burst_bytes"], self.senders["burst"][2],
                                       SIGNAL_PORT)

    def measure(self, measured):
        queue = next(q for q in self.report["queues"]
                     if f"{q['switch_name']}.{q['port_name']}" == measured)
        width_ns = self.report["bin_ns"]
        # The senders ran for the last seconds of the switch's life.
        count = int(self.senders["iterations"] * self.senders["period"] * 1e9 / width_ns)
        bins = queue["bins"][-count:]
        self.mean_queue_packets = sum(b["sojourn_ns"] for b in bins) / (count * width_ns)


if __name__ == "__main__":
    run_host(json.loads(sys.argv[1]))
