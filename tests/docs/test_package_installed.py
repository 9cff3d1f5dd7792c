#!/usr/bin/env python3
"""The Debian package installs in a bare Debian 12 and 13, where its programs run, also as services of
a systemd that is booted there. Each release gets
a package that was built on it: this build's, or one that tools/dev/in-debian builds there. That of
another release is refused, since DPDK's libraries have other names. Takes minutes, and the network."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from booted import Booted
from test_package import ROOT, UNITS, make_package, output_of

RELEASES = ("bookworm", "trixie")
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache")) / "outrider/debian"
BUILD = """
tools/setup
cmake --preset release -DOUTRIDER_TESTS=OFF -DOUTRIDER_MPI=OFF
cmake --build --preset release --parallel 2
rm -rf build/package
cpack -D CPACK_DEBIAN_COMPRESSION_TYPE=gzip --config build/release/CPackConfig.cmake -B build/package
"""
# Mounts end with the command, as they are in a namespace of its own. So does its network of one
# down interface, if NET is --net.
IN_ROOT = """
root=$1; shift
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount --rbind /sys "$root/sys"
cp /etc/resolv.conf "$root/etc/resolv.conf"
exec chroot "$root" /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 \
  DEBIAN_FRONTEND=noninteractive bash -euc "$*"
"""


def own_release():
    for line in pathlib.Path("/etc/os-release").read_text(encoding="utf-8").splitlines():
        name, _, value = line.partition("=")
        if name == "VERSION_CODENAME":
            return value.strip('"')
    return None


def mirror_of(release):
    """What in-debian has the directory of this release from, or the mirror of every Debian."""
    sources = CACHE / release / "etc/apt/sources.list"
    return sources.read_text(encoding="utf-8") if sources.is_file() else \
        f"deb http://deb.debian.org/debian {release} main"


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # Not /tmp, which may be memory: a root has 600 MB.
        directory = tempfile.TemporaryDirectory(prefix="outrider-package-", dir="/var/tmp")
        cls.addClassCleanup(directory.cleanup)
        cls.place = pathlib.Path(directory.name)
        cls.packages = {release: cls.package_of(release) for release in RELEASES}
        cls.roots = {release: cls.root_of(release) for release in RELEASES}

    @classmethod
    def package_of(cls, release):
        if release == own_release():
            return make_package(cls.place / "made")
        output_of(ROOT / "tools/dev/in-debian", release, "bash", "-euc", BUILD)
        [package] = (CACHE / release / "srv/outrider/build/package").glob("*.deb")
        return package

    @classmethod
    def root_of(cls, release):
        """A bare Debian with systemd, whose sysusers and verify are asked."""
        root = cls.place / release
        output_of("mmdebstrap", "--variant=apt", "--include=systemd,ca-certificates", "--skip=cleanup/apt",
                  release, root, mirror_of(release))
        for of, package in cls.packages.items():
            shutil.copyfile(package, root / f"root/{of}.deb")
        return root

    def inside(self, release, command, *, net=False):
        return subprocess.run(["unshare", "--mount", "--pid", "--fork", "--kill-child",
                               *["--net"] * net, "bash", "-euc", IN_ROOT, "bash",
                               self.roots[release], command], text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, check=False)

    def said(self, release, command, **more):
        done = self.inside(release, command, **more)
        self.assertEqual(done.returncode, 0, f"{release}: {command}\n{done.stdout[-3000:]}")
        return done.stdout

    def test_it_installs_and_runs(self):
        for release in RELEASES:
            with self.subTest(release=release):
                for other in set(RELEASES) - {release}:
                    refused = self.inside(release, f"apt-get install -y /root/{other}.deb")
                    self.assertNotEqual(refused.returncode, 0, "of another release")
                    self.assertIn("unmet dependencies", refused.stdout)
                self.said(release, "apt-get install -y --no-install-recommends "
                                   f"/root/{release}.deb")
                self.runs(release)
                self.units_are_taken(release)
                with Booted(self.roots[release]) as machine:
                    self.services_run(machine)
                    self.services_say_what_is_wrong(machine)
                    # A file of the operator's would stay.
                    self.asked(machine, "rm /etc/outrider/*")
                self.said(release, "apt-get purge -y outrider")
                self.assertFalse((self.roots[release] / "etc/outrider").exists())

    def runs(self, release):
        conf = "/usr/share/outrider/conf"
        self.said(release, f"cd /root; outrider-lab run {conf}/experiments/quick.toml --out quick")
        self.assertIn("outrider-lab", self.said(release, "cd /root; outrider-lab report quick"))
        report = self.roots[release] / "root/quick/report.html"
        self.assertIn("<html", report.read_text(encoding="utf-8"))
        self.assertIn("[[switch]]", self.said(
            release, f"outrider-switch --config {conf}/switch/loopback-leaf.toml --check"))
        self.assertIn("Announces the bursts", self.said(release, "outrider-hostagent --help"))
        agent = "outrider-hostagent answer --interface lo --accept-from 127.0.0.0/8 --user outrider"
        self.assertIn("goes on as user outrider", self.said(
            release, f"timeout --preserve-status -s INT 2 {agent}", net=True))

    def units_are_taken(self, release):
        self.assertTrue((self.roots[release] / "etc/outrider").is_dir())
        self.said(release, "getent passwd outrider")
        names = " ".join(unit.replace("@x", "@") for unit in UNITS)
        self.assertEqual(self.said(release, "cd /usr/lib/systemd/system; "
                                            f"systemd-analyze verify --man=no {names}"), "")

    def asked(self, machine, command, status=0):
        done = machine.run(command)
        self.assertEqual(done.returncode, status, f"{command}\n{done.stdout[-3000:]}")
        return done.stdout

    def services_run(self, machine):
        """The commands of docs/running.md, with the sockets between switch and generator."""
        conf = "/usr/share/outrider/conf"
        self.asked(machine, f"cp {conf}/switch/loopback-leaf.toml /etc/outrider/switch.toml; "
                            f"cp {conf}/trafficgen/loopback.toml /etc/outrider/trafficgen.toml; "
                            "echo COMMAND=answer --interface lo >/etc/outrider/hostagent-lo.conf")
        services = "outrider-switch outrider-trafficgen outrider-hostagent@lo"
        self.asked(machine, f"systemctl start {services}")
        # It is ready when start returns.
        self.assertIn("forwarding on", self.asked(machine, "journalctl -u outrider-switch"))
        self.assertIn("sending from", self.asked(machine, "journalctl -u outrider-trafficgen"))
        self.assertEqual(self.asked(machine, f"systemctl is-active {services}"), 3 * "active\n")
        self.asked(machine, "echo '[telemetry]' >>/etc/outrider/switch.toml; "
                            "systemctl reload outrider-switch; sleep 1")
        self.assertIn(": reloaded, ", self.asked(machine, "journalctl -u outrider-switch"))
        self.asked(machine, f"systemctl stop {services}")
        for report in ("outrider/switch", "outrider/trafficgen"):
            text = self.asked(machine, f"cat /var/lib/{report}.json")
            self.assertIn('"ledger_balanced":true', text.replace(" ", ""))
        self.assertIn('"answered"', self.asked(machine, "cat /var/lib/outrider-hostagent/lo.json"))

    def services_say_what_is_wrong(self, machine):
        """A service that does not come up fails its start; a bad file does not end one that runs."""
        file = "/etc/outrider/switch.toml"
        self.asked(machine, f"systemctl start outrider-switch; echo sed = 1 >{file}.wrong; "
                            f"cp {file} {file}.right; cp {file}.wrong {file}")
        self.assertIn("Job for outrider-switch.service failed",
                      self.asked(machine, "systemctl reload outrider-switch", 1))
        self.asked(machine, "systemctl is-active outrider-switch")
        self.asked(machine, "systemctl restart outrider-switch", 1)
        self.assertIn('unknown key; did you mean "seed"', self.asked(
            machine, "journalctl -u outrider-switch"))
        self.asked(machine, f"mv {file}.right {file}; chmod 0600 {file}; "
                            "systemctl start outrider-switch", 1)
        self.assertIn("may not read it", self.asked(machine, "journalctl -u outrider-switch"))
        self.asked(machine, f"chmod 0644 {file}; systemctl start outrider-switch; "
                            "systemctl kill -s KILL outrider-switch; sleep 8; "
                            "systemctl is-active outrider-switch; systemctl stop outrider-switch")


if __name__ == "__main__":
    missing = [tool for tool in ("cpack", "dpkg-deb", "dpkg-shlibdeps", "mmdebstrap", "unshare", "nsenter")
               if not shutil.which(tool)]
    if os.geteuid() != 0 or missing:
        print("skipped: " + ("no " + ", ".join(missing) if missing else "needs root, for chroot"))
        sys.exit(77)
    unittest.main(verbosity=2)
