"""A guest with emulated NICs, cabled back to back."""
import ctypes
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

import kernel
import qemu

MODELS = {
    "e1000e": "e1000e",
    "igb": "igb",
    "virtio": "virtio-net-pci,iommu_platform=on,disable-legacy=on",
    "vmxnet3": "vmxnet3",
}
PR_SET_PDEATHSIG = 1
ANSWER_LIMIT_S = 30  # of QEMU, and so of `hand`
FIRST_SLOT = 0x10  # of the root ports; NIC number n is behind the one at 0000:00:(10 + n).0


class Machine:
    """@param cables  pairs of NICs; cable k joins NIC 2 k ("near") to NIC 2 k + 1 ("far")
    @param queues  receive queues of a NIC, over which RSS spreads; more than one: virtio alone, and
    root, because each cable is a bridge in a network namespace of its own then
    @param nodes  1 or 2; with 2, the CPUs and the memory are halved between them, and NICs
    whose numbers are in `far_nodes` are at node 1
    @param one_device  the NICs are functions of one PCI device without ACS, at one root port: they
    are in one IOMMU group
    @param properties  further ones of QEMU's for each NIC, e.g. "host_mtu=9000"
    @param newer  runs it under the newer QEMU of qemu.py; igb does always"""

    def __init__(self, model="e1000e", cables=2, cpus=2, memory_mib=2048, nodes=1,
                 far_nodes=(), iommu=True, boot="", queues=1, newer=False,
                 one_device=False, properties=""):
        self.model, self.cables, self.cpus, self.memory_mib = model, cables, cpus, memory_mib
        self.nodes, self.far_nodes, self.iommu, self.boot = nodes, far_nodes, iommu, boot
        self.one_device, self.properties = one_device, properties
        self.queues, self.newer = queues, newer or model == "igb"

    def nics(self):
        return 2 * self.cables

    def command(self, folder, image, archive, modules):
        # no_timer_check: on a busy machine the kernel misses ticks at its start, and panics.
        words = qemu.command(self.newer) + [
                 "-nodefaults", "-display", "none", "-no-reboot",
                 "-machine", "q35,accel=tcg,kernel-irqchip=split", "-cpu", "max",
                 "-smp", str(self.cpus), "-m", f"{self.memory_mib}M",
                 "-kernel", str(image), "-initrd", str(archive),
                 "-append", "console=ttyS0 panic=-1 no_timer_check " + self.boot +
                 (" intel_iommu=on iommu=pt" if self.iommu else ""),
                 "-serial", f"file:{folder}/console", "-serial", f"file:{folder}/output",
                 "-qmp", f"unix:{folder}/qmp,server=on,wait=off"]
        if self.iommu:
            words += ["-device", "intel-iommu,intremap=on,caching-mode=on,device-iotlb=on"]
        for tag, path, more in (("root", "/", ",readonly=on"),
                                ("modules", modules, ",readonly=on"),
                                ("job", folder / "job", "")):
            words += ["-fsdev", f"local,id={tag},path={path},security_model=none,"
                      f"multidevs=remap{more}",
                      "-device", f"virtio-9p-pci,fsdev={tag},mount_tag={tag}"]
        # The guest reads requests to pull a cable, say, from this end and we answer.
        words += ["-device", "virtio-serial-pci", "-chardev",
                  f"socket,id=hand,path={folder}/hand,server=on,wait=off",
                  "-device", "virtserialport,chardev=hand,name=hand"]
        return words + self._memory() + self._nics()

    def _memory(self):
        if self.nodes == 1:
            return []
        half, words = self.memory_mib // 2, []
        for node in range(2):
            first, last = node * self.cpus // 2, (node + 1) * self.cpus // 2 - 1
            words += ["-object", f"memory-backend-ram,id=m{node},size={half}M",
                      "-numa", f"node,nodeid={node},memdev=m{node},cpus={first}-{last}"]
        return words + ["-device", "pxb-pcie,id=node1,bus_nr=128,bus=pcie.0,numa_node=1,addr=0xf"]

    def _nics(self):
        words = []
        for n in range(self.nics()):
            bus = "node1" if n in self.far_nodes else "pcie.0"
            end, more = f"hubport,id=end{n},hubid={n // 2}", ""
            if self.properties:
                more = f",{self.properties}"
            if self.queues > 1:
                end = f"tap,id=end{n},ifname={tap(n)},queues={self.queues},script=no,downscript=no"
                more += f",mq=on,rss=on,vectors={2 * self.queues + 2}"
            port = 0 if self.one_device else n
            if port == n:
                words += ["-device", f"pcie-root-port,id=port{n},bus={bus},chassis={n + 1},"
                          f"slot={n + 1},addr={FIRST_SLOT + n:#x}"]
            if self.one_device:
                more += f",multifunction=on,addr=0.{n}"
            words += ["-netdev", end,
                      "-device", f"{MODELS[self.model]},id=nic{n},netdev=end{n},bus=port{port},"
                      f"mac=02:00:00:00:00:{n + 1:02x}{more}"]
        return words


def tap(n):
    return f"end{n}"


def among_bridges(machine, command):
    """Returns a command that runs QEMU in a network namespace where a bridge is each cable: QEMU has
    NICs of several queues for taps alone. The namespace ends with QEMU, however that ends."""
    # Nobody but the guest speaks on a cable.
    script = ["sysctl -q net.ipv6.conf.default.disable_ipv6=1"]
    for cable in range(machine.cables):
        script.append(f"ip link add cable{cable} type bridge mcast_snooping 0")
        for n in (2 * cable, 2 * cable + 1):
            script += [f"ip tuntap add {tap(n)} mode tap multi_queue vnet_hdr",
                       f"ip link set {tap(n)} master cable{cable} up"]
        script.append(f"ip link set cable{cable} up")
    script.append('exec "$@"')
    return ["unshare", "--net", "bash", "-ec", "\n".join(script), "bash", *command]


def end_with_parent():
    """QEMU does not outlive us, whatever ends us."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class Monitor:
    """QEMU's control socket. Any thread may ask; raises TimeoutError when QEMU does not answer."""

    def __init__(self, path):
        self._asking = threading.Lock()
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(ANSWER_LIMIT_S)
        self._socket.connect(str(path))
        self._lines = self._socket.makefile("rw")
        self._lines.readline()  # greeting
        self.ask("qmp_capabilities")

    def close(self):
        self._lines.close()
        self._socket.close()

    def ask(self, command, **arguments):
        with self._asking:
            self._lines.write(json.dumps({"execute": command, "arguments": arguments}) + "\n")
            self._lines.flush()
            while True:
                answer = json.loads(self._lines.readline())
                if "event" not in answer:
                    return answer

    def processors(self):
        """Returns where each vCPU is: a low address is firmware or a program, a high one the kernel,
        and with HLT=1 it waits for an interrupt."""
        try:
            said = self.ask("human-monitor-command", **{"command-line": "info registers -a"})
        except OSError as error:
            return f"QEMU does not answer: {error}"
        return "\n".join(re.findall(r"CPU#\d+|^RIP=.*", said.get("return", ""), re.MULTILINE))


class Hand:
    """Does to the cables what the guest asks for, a line each: "link 3 off", "unplug 3"."""

    def __init__(self, path, monitor):
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(str(path))
        self._monitor = monitor
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def close(self):
        """Call it once the guest has ended, which ends the thread."""
        self._thread.join(timeout=5)
        self._socket.close()

    def _serve(self):
        with self._socket.makefile("rw") as lines:
            self._answer(lines)

    def _answer(self, lines):
        for line in lines:
            match line.split():
                case ["link", nic, state]:
                    answer = self._monitor.ask("set_link", name=f"nic{nic}", up=state == "on")
                case ["unplug", nic]:
                    answer = self._monitor.ask("device_del", id=f"nic{nic}")
                case _:
                    answer = {"error": {"desc": f"not understood: {line.strip()}"}}
            lines.write("done\n" if "return" in answer else f"{answer['error']['desc']}\n")
            lines.flush()


START = """cd /job
export HOME=/tmp NICS="$(for slot in {slots}; do
  for nic in /sys/bus/pci/devices/*:$slot.0/0000:*; do [[ -d $nic ]] && basename "$nic"; done
done | grep -v pcie | tr '\\n' ' ')"
cat >/run/hand <<'HAND'
#!/bin/bash
# Asks for something to be done to a NIC: hand link NUMBER on|off, hand unplug NUMBER
for port in /dev/vport*; do exec 3<>"$port" && break; done
echo "$*" >&3 && read -r -t {answer_s} answer <&3
[[ $answer == done ]] || {{ echo "hand $*: ${{answer:-no answer}}" >&2; exit 1; }}
HAND
chmod +x /run/hand
ip link set lo up
PATH=$PATH:/sbin:/usr/sbin:/run:{path}
modprobe -a vfio-pci virtio_console
for _ in {{1..50}}; do compgen -G "/dev/vport*" >/dev/null && break; sleep 0.1; done
BASH_XTRACEFD=9 bash -c 'PS4="+ \\$SECONDS s: "; set -x; . /job/command' 9>/job/steps.log
echo $? >/job/status
sync
poweroff -f 2>/dev/null || echo o >/proc/sysrq-trigger
sleep 60
"""


def start_script(machine, path):
    """Returns what the guest runs: it prepares itself, then runs /job/command."""
    slots = " ".join(f"{FIRST_SLOT + n:02x}" for n in range(machine.nics()))
    return START.format(slots=slots, path=path, answer_s=2 * ANSWER_LIMIT_S)


def run(machine, script, bring=None, limit_s=300, path="", show=sys.stdout):
    """Starts the guest, runs the script there with bash as root and ends the guest.
    The script finds the NICs' addresses in $NICS, and `hand` for their cables; what it writes
    into the current directory is in `bring` afterwards, beside its commands with the second of
    each (steps.log) and the kernel's messages (console.log). @return its exit status.
    Raises kernel.Missing, or TimeoutError with the ends of these and of all that ends in .log."""
    unpacked, release = kernel.unpacked()
    with tempfile.TemporaryDirectory(prefix="nic-machine-") as folder:
        folder = pathlib.Path(folder)
        job = folder / "job"
        job.mkdir()
        (job / "start").write_text(start_script(machine, path))
        (job / "command").write_text(script)
        archive = folder / "initramfs"
        kernel.initramfs(unpacked, release, archive)
        command = machine.command(folder, kernel.image(unpacked, release), archive,
                                  unpacked / "lib/modules")
        if machine.queues > 1:
            if os.geteuid() != 0:
                raise kernel.Missing("NICs of several queues need root: their cables are bridges")
            command = among_bridges(machine, command)
        with open(folder / "qemu", "w") as said:
            guest = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=said, stderr=said,
                                     preexec_fn=end_with_parent)
        try:
            _watch(guest, folder, time.monotonic() + limit_s, show)
        finally:
            guest.kill()
            guest.wait()
            if bring:
                _bring(job, pathlib.Path(bring), folder)
        status = job / "status"
        if not status.exists():
            raise TimeoutError("the guest ended before the script did\n" + last_words(folder))
        return int(status.read_text())


def last_words(folder):
    """Returns the ends of what QEMU, the guest's kernel, its script and its programs said."""
    files = [folder / name for name in ("qemu", "console", "output") if (folder / name).exists()]
    return "".join(f"--- {file.name}\n" + "\n".join(file.read_text(errors="replace")
                                                   .splitlines()[-20:]) + "\n"
                   for file in files + sorted((folder / "job").glob("*.log")))


def _bring(job, to, folder):
    to.mkdir(parents=True, exist_ok=True)
    for item in job.iterdir():
        if item.name in ("start", "command", "status"):
            continue
        if item.is_dir():
            shutil.copytree(item, to / item.name, dirs_exist_ok=True)
        else:
            shutil.copy(item, to / item.name)
    if (folder / "console").exists():
        shutil.copy(folder / "console", to / "console.log")


def _watch(guest, folder, deadline, show):
    """Follows the guest's output until it ends."""
    while not (folder / "hand").exists() or not (folder / "qmp").exists():
        if guest.poll() is not None:
            raise kernel.Missing("QEMU does not start\n" + last_words(folder))
        time.sleep(0.05)
    monitor = Monitor(folder / "qmp")
    hand = Hand(folder / "hand", monitor)
    try:
        _follow(guest, folder, deadline, show, monitor)
    finally:
        guest.kill()
        hand.close()
        monitor.close()


def _follow(guest, folder, deadline, show, monitor):
    with open(folder / "output", errors="replace") as output:
        while True:
            ended = guest.poll() is not None
            text = output.read()
            if show and text:
                show.write(text.replace("\r\n", "\n"))
                show.flush()
            if ended:
                return
            if time.monotonic() > deadline:
                raise TimeoutError("the guest did not end in time\n" + last_words(folder) +
                                   "--- processors\n" + monitor.processors())
            time.sleep(0.1)
