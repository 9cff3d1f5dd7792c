"""Guests joined by cables, each a machine of its own: a rack without hardware. A cable is a pair
of Unix sockets in the run's folder. ssh reaches each guest through a port of 127.0.0.1, and a
guest reaches nothing but its cables."""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time

import kernel
import machine

SSH_CONFIG = """Host {names}
  HostName 127.0.0.1
  User root
  HostKeyAlias rack
  IdentityFile {folder}/key
  IdentitiesOnly yes
  IdentityAgent none
  UserKnownHostsFile {folder}/known_hosts
  GlobalKnownHostsFile /dev/null
  StrictHostKeyChecking yes
  BatchMode yes
  ConnectTimeout 60
  LogLevel ERROR
"""

# Runs in a guest. Its home is in memory, so it has none of this machine's keys.
SERVE = """mount -t tmpfs -o mode=0700 home /root
mkdir -m 0700 /root/.ssh
cp /job/authorized_keys /root/.ssh/
echo "export PATH=$PATH NICS='${{NICS% }}'" >/root/.bashrc
hostname {name}
modprobe -a virtio_net af_packet
for card in /sys/class/net/*; do
  [[ $(<$card/address) == {control} ]] || continue
  ip address add {net}.15/24 dev ${{card##*/}}
  ip link set ${{card##*/}} up
done
exec dropbear -F -E -s -j -k -m -r /job/host_key -p {net}.15:22
"""
CONTROL_MAC = "02:00:00:00:ff:01"
CONTROL_NET = "192.0.2"  # of documentation: no host of a rehearsal has these addresses


class Guest(machine.Machine):
    """@param number  of the machine, in its NICs' Ethernet addresses: 02:00:00:00:NUMBER:NIC
    @param ends  paths of the sockets at its end and the far end of each of its cables"""

    def __init__(self, name, number, ends, **options):
        super().__init__(cables=0, **options)
        self.name, self._number, self._ends = name, number, ends

    def nics(self):
        return len(self._ends)

    def _nics(self):
        words = ["-netdev", f"user,id=control,net={CONTROL_NET}.0/24,restrict=on,ipv6=off,"
                 "hostfwd=tcp:127.0.0.1:0-:22",
                 "-device", f"virtio-net-pci,netdev=control,romfile=,mac={CONTROL_MAC}"]
        for n, (near, far) in enumerate(self._ends):
            words += ["-device", f"pcie-root-port,id=port{n},bus=pcie.0,chassis={n + 1},"
                      f"slot={n + 1},addr={machine.FIRST_SLOT + n:#x}",
                      "-netdev", f"dgram,id=end{n},local.type=unix,local.path={near},"
                      f"remote.type=unix,remote.path={far}",
                      "-device", f"{machine.MODELS[self.model]},id=nic{n},netdev=end{n},"
                      f"bus=port{n},mac=02:00:00:00:{self._number:02x}:{n + 1:02x}"]
        return words


class Rack:
    """Running guests; a context, whose end is theirs.
    @param cables  pairs of machines' names. A machine's NICs are in the order of its cables
    @param path  of programs, in the guests' PATH
    @param options  of each machine.Machine
    Raises kernel.Missing, or TimeoutError if a guest cannot be reached by `limit_s`."""

    def __init__(self, cables, path="", limit_s=300, **options):
        self._deadline = time.monotonic() + limit_s
        self._folder = tempfile.TemporaryDirectory(prefix="nic-rack-")
        self.folder = pathlib.Path(self._folder.name)
        self._running = {}  # guest's process and folder, by name
        try:
            self._make_keys()
            self._start(guests(cables, self.folder, options), path)
            self._wait_for_all()
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        for process, _ in self._running.values():
            process.kill()
        for process, _ in self._running.values():
            process.wait()
        self._folder.cleanup()

    def config(self):
        """Returns the file for ssh -F that knows each machine by its name."""
        return self.folder / "ssh_config"

    def seconds_left(self):
        return max(0.1, self._deadline - time.monotonic())

    def last_words(self):
        return "".join(f"{name}: {machine.last_words(folder)}"
                       for name, (_, folder) in self._running.items())

    def _make_keys(self):
        for tool in ("dropbear", "dropbearkey", "ssh", "ssh-keygen"):
            if shutil.which(tool) is None:
                raise kernel.Missing(f"{tool} is missing; tools/setup --nics installs it")
        kernel.run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "rack", "-f",
                   self.folder / "key")
        said = kernel.run("dropbearkey", "-t", "ed25519", "-f", self.folder / "host_key")
        public = re.search(r"^ssh-ed25519 \S+", said, re.MULTILINE)[0]
        (self.folder / "known_hosts").write_text(f"rack {public}\n")

    def _start(self, all_guests, path):
        unpacked, release = kernel.unpacked()
        archive = self.folder / "initramfs"
        kernel.initramfs(unpacked, release, archive)
        for guest in all_guests:
            folder = self.folder / guest.name
            job = folder / "job"
            job.mkdir(parents=True)
            shutil.copy(self.folder / "key.pub", job / "authorized_keys")
            shutil.copy(self.folder / "host_key", job / "host_key")
            (job / "start").write_text(machine.start_script(guest, path))
            (job / "command").write_text(SERVE.format(name=guest.name, control=CONTROL_MAC,
                                                       net=CONTROL_NET))
            command = guest.command(folder, kernel.image(unpacked, release), archive,
                                    unpacked / "lib/modules")
            with open(folder / "qemu", "w") as said:
                process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=said,
                                           stderr=said, preexec_fn=machine.end_with_parent)
            self._running[guest.name] = process, folder
        ports = {name: self._port(name) for name in self._running}
        self.config().write_text(
            "".join(f"Host {name}\n  Port {port}\n" for name, port in ports.items()) +
            SSH_CONFIG.format(names=" ".join(ports), folder=self.folder))

    def _port(self, name):
        """Returns the port of 127.0.0.1 that leads to a guest; QEMU chose a free one."""
        process, folder = self._running[name]
        while not (folder / "qmp").exists():
            if process.poll() is not None:
                raise kernel.Missing("QEMU does not start\n" + machine.last_words(folder))
            time.sleep(0.05)
        monitor = machine.Monitor(folder / "qmp")
        said = monitor.ask("human-monitor-command", **{"command-line": "info usernet"})["return"]
        monitor.close()
        return int(re.search(r"HOST_FORWARD\S*\s+\d+\s+127\.0\.0\.1\s+(\d+)", said)[1])

    def _wait_for_all(self):
        for name, (process, _) in self._running.items():
            while not self._answers(name):
                if process.poll() is not None or time.monotonic() > self._deadline:
                    raise TimeoutError(f"{name} cannot be reached\n{self.last_words()}")
                time.sleep(1)

    def _answers(self, name):
        try:
            return subprocess.run(["ssh", "-F", self.config(), name, "true"], check=False,
                                  stdin=subprocess.DEVNULL, capture_output=True,
                                  timeout=self.seconds_left()).returncode == 0
        except subprocess.TimeoutExpired:
            return False


def guests(cables, folder, options):
    """Returns the guests that the cables join, in the order of their names' first appearance."""
    ends = {}
    for number, cable in enumerate(cables):
        near, far = (str(folder / f"cable{number}-{end}") for end in "ab")
        ends.setdefault(cable[0], []).append((near, far))
        ends.setdefault(cable[1], []).append((far, near))
    return [Guest(name, number, its, **options)
            for number, (name, its) in enumerate(ends.items(), 1)]


def run(cables, script, into=".", path="", limit_s=300, **options):
    """Starts the rack and runs the script on this machine with bash, in the directory `into`. It
    finds in $RACK the file for ssh -F. @return its exit status. Raises as Rack does, and
    TimeoutError if the script takes too long."""
    with Rack(cables, path, limit_s, **options) as rack:
        environment = {**os.environ, "RACK": str(rack.config()),
                       "PATH": f"{path}:{os.environ['PATH']}"}
        command = subprocess.Popen(["bash", "-c", script], cwd=into, env=environment,
                                   stdin=subprocess.DEVNULL, start_new_session=True,
                                   preexec_fn=machine.end_with_parent)
        try:
            return command.wait(rack.seconds_left())
        except subprocess.TimeoutExpired as late:
            raise TimeoutError(f"the script did not end in time\n{rack.last_words()}") from late
        finally:
            end_group(command)


def end_group(command):
    """Ends a command that leads a session, and what it has started."""
    for number, patience_s in ((signal.SIGTERM, 5), (signal.SIGKILL, 5)):
        try:
            os.killpg(command.pid, number)
        except ProcessLookupError:
            return
        end = time.monotonic() + patience_s
        while time.monotonic() < end and command.poll() is None:
            time.sleep(0.05)
