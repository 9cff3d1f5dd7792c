"""Boots systemd in a directory with a Debian of its own, in namespaces, as in a machine that has
just the loopback interface."""
import pathlib
import subprocess
import time

# What the container may change of this machine: nothing of /sys, /proc/sys and /dev.
BOOT = """
root=$1 name=$2
mount --make-rprivate /
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount --bind "$root/proc/sys" "$root/proc/sys"
mount -o remount,bind,ro "$root/proc/sys"
mount -t sysfs -o ro sys "$root/sys"
mount -t tmpfs -o mode=0755 dev "$root/dev"
for node in null zero full random urandom tty; do
  touch "$root/dev/$node"
  mount --bind "/dev/$node" "$root/dev/$node"
done
mkdir "$root/dev/pts" "$root/dev/shm"
ln -s /proc/self/fd "$root/dev/fd"
mount -t devpts -o newinstance,ptmxmode=0666 pts "$root/dev/pts"
ln -s pts/ptmx "$root/dev/ptmx"
for folder in dev/shm run tmp; do mount -t tmpfs tmp "$root/$folder"; done
hostname "$name"
ip link set lo up
mount -t cgroup2 cgroup "$root/sys/fs/cgroup"
mkdir "$root/sys/fs/cgroup/$name"
echo $$ >"$root/sys/fs/cgroup/$name/cgroup.procs"
exec unshare --cgroup bash -euc '
  umount "$1/sys/fs/cgroup"
  mount -t cgroup2 cgroup "$1/sys/fs/cgroup"
  exec chroot "$1" /usr/bin/env -i container=outrider PATH=/usr/sbin:/usr/bin \
    /usr/lib/systemd/systemd' boot "$root"
"""
FORGET = """
mount -t cgroup2 cgroup /mnt
for _ in {1..50}; do
  find "/mnt/$1" -depth -type d -exec rmdir {} + && exit
  sleep 0.2
done
"""
PATIENCE_S = 120  # of a machine that is busy


class Booted:
    """Used as a context: the machine is up inside, and gone with all its processes after."""

    def __init__(self, root):
        self._root, self._name = pathlib.Path(root), f"outrider-{pathlib.Path(root).name}"

    def __enter__(self):
        self._console = open(self._root / "console.log", "wb+")
        self._outer = subprocess.Popen(
            ["unshare", "--mount", "--pid", "--uts", "--ipc", "--net", "--fork", "--kill-child",
             "bash", "-euc", BOOT, "boot", self._root, self._name], stdin=subprocess.DEVNULL,
            stdout=self._console, stderr=subprocess.STDOUT)
        try:
            self._wait()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self._outer.kill()
        self._outer.wait()
        self._console.close()
        subprocess.run(["unshare", "--mount", "bash", "-c", FORGET, "forget", self._name],
                       stderr=subprocess.DEVNULL, check=False)

    def _wait(self):
        until = time.monotonic() + PATIENCE_S
        while time.monotonic() < until and self._outer.poll() is None:
            # "degraded": a unit failed that such a machine has no use for.
            if self.run("systemctl is-system-running").stdout.strip() in ("running", "degraded"):
                return
            time.sleep(0.5)
        self._console.seek(0)
        raise AssertionError(f"systemd did not start: {self._console.read()[-2000:]}")

    def run(self, command):
        """Runs a command of bash in the machine, and returns it with what it said."""
        pid = self._outer.pid
        [first] = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split() or ["0"]
        return subprocess.run(
            ["nsenter", "--target", first, "--mount", "--pid", "--uts", "--ipc", "--net",
             "--cgroup", "--root", "--wd", "/usr/bin/env", "-i", "HOME=/root", "LC_ALL=C.UTF-8",
             "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "bash", "-uc", command],
            text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
