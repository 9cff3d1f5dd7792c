#!/usr/bin/env python3
"""The Debian package that cpack makes of the build has the programs with what they need: they run
from where it puts them, and it names the packages of the libraries. Its services say what they
lack, its documentation says what is where it is installed."""
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = pathlib.Path(os.environ.get("OUTRIDER_PROGRAMS", ROOT / "build/release/bin"))
UNITS = ("outrider-switch.service", "outrider-trafficgen.service", "outrider-hostagent@x.service")
EXPOSURE = 3.0  # of systemd-analyze security, from 0 to 10; without hardening.conf it is 7
# In pages: a file of the reader's own, and a name for any.
NOT_INSTALLED = {"conf/switch.toml", "conf/experiments/NAME.toml"}


def output_of(*words):
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True)
    if done.returncode != 0:
        raise AssertionError(f"{words[0]}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def make_package(made):
    """Packs the build into a folder, as a release has it, but for xz, which takes most of a minute."""
    output_of("cpack", "-D", "CPACK_DEBIAN_COMPRESSION_TYPE=gzip",
              "--config", PROGRAMS.parent / "CPackConfig.cmake", "-B", made)
    [package] = made.glob("*.deb")
    return package


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        directory = tempfile.TemporaryDirectory(prefix="outrider-package-")
        cls.addClassCleanup(directory.cleanup)
        made = pathlib.Path(directory.name)
        cls.package = make_package(made)
        cls.tree = made / "tree"
        output_of("dpkg-deb", "--extract", cls.package, cls.tree)
        cls.units = cls.tree / "usr/lib/systemd/system"
        # An instance of the template.
        (cls.units / UNITS[2]).symlink_to("outrider-hostagent@.service")

    def field(self, name):
        return output_of("dpkg-deb", "--field", self.package, name).strip()

    def test_it_is_named_and_depends_on_what_the_programs_load(self):
        version = output_of(PROGRAMS / "outrider-lab", "--version").split()[1]
        self.assertTrue(self.field("Version").startswith(version.partition("+")[0]), version)
        self.assertEqual(self.field("Package"), "outrider")
        depends = self.field("Depends")
        for name in ("librte-eal", "libspdlog", "libbpf", "librte-meta-net"):
            self.assertIn(name, depends)

    def test_every_program_is_there_with_its_page_and_completion(self):
        for name in ("lab", "switch", "trafficgen", "hostagent", "doctor"):
            name = "outrider-" + name
            self.assertIn("Usage", output_of(self.tree / "usr/bin" / name, "--help"), name)
            self.assertTrue(list((self.tree / "usr/share/man/man1").glob(name + ".1*")), name)
        completions = self.tree / "usr/share/bash-completion/completions"
        self.assertTrue((completions / "outrider-lab").is_file())

    def test_the_lab_finds_its_files(self):
        lab = self.tree / "usr/bin/outrider-lab"
        experiment = self.tree / "usr/share/outrider/conf/experiments/quick.toml"
        self.assertIn("no fault", output_of(lab, "check", experiment))
        cluster = self.package.with_name("cluster.toml")
        output_of(lab, "advise", "--new", cluster)
        self.assertIn("[network]", cluster.read_text(encoding="utf-8"))

    def test_configurations_are_there(self):
        installed = self.tree / "usr/share/outrider/conf"
        for file in (ROOT / "conf").rglob("*"):
            if file.is_file() and "systemd" not in file.parts:
                self.assertTrue((installed / file.relative_to(ROOT / "conf")).is_file(), file)
        self.assertTrue((installed / "systemd/70-outrider-vfio.rules").is_file())

    def test_the_module_for_python_is_where_its_page_says(self):
        page = self.tree / "usr/share/doc/outrider/docs/howto-pandas.md"
        self.assertIn("PYTHONPATH=/usr/share/outrider/python`", page.read_text(encoding="utf-8"))
        self.assertTrue((self.tree / "usr/share/outrider/python/outrider.py").is_file())

    def test_the_documentation_names_what_is_installed(self):
        pages = list((self.tree / "usr/share/doc/outrider").rglob("*.md"))
        self.assertGreater(len(pages), 50)
        named = set()
        for page in pages:
            text = page.read_text(encoding="utf-8")
            self.assertNotIn("build/release/bin", text, page)
            self.assertNotRegex(text, r"\]\((\.\./)+conf/", page)
            named |= set(re.findall(r"/usr/share/outrider/(conf/[\w./-]+\.toml)", text))
        self.assertGreater(len(named), 20)
        for name in named - NOT_INSTALLED:
            self.assertTrue((self.tree / "usr/share/outrider" / name).is_file(), name)

    def test_the_service_user_is_made(self):
        users = (self.tree / "usr/lib/sysusers.d/outrider.conf").read_text(encoding="utf-8")
        self.assertRegex(users, r"^u outrider ")
        output_of("dpkg-deb", "--control", self.package, self.package.with_name("control"))
        scripts = [self.package.with_name("control") / n for n in ("postinst", "prerm", "postrm")]
        for script in scripts:
            self.assertTrue(os.access(script, os.X_OK), script)
            output_of("sh", "-n", script)
        self.assertIn("systemd-sysusers outrider.conf", scripts[0].read_text(encoding="utf-8"))

    def test_services_start_programs_that_are_there(self):
        for unit in UNITS:
            text = (self.units / unit).read_text(encoding="utf-8")
            programs = set(re.findall(r"/(usr/bin/\S+) ", text))
            self.assertEqual(programs, {"usr/bin/" + re.split("[.@]", unit)[0]})
            self.assertTrue((self.tree / programs.pop()).is_file(), unit)

    def test_a_service_without_its_file_says_what_is_missing(self):
        for unit, file in zip(UNITS, ("switch.toml", "trafficgen.toml", "hostagent-x.conf")):
            file = "/etc/outrider/" + file
            if os.path.exists(file):
                self.skipTest(f"this machine has {file}")
            text = (self.units / unit).read_text(encoding="utf-8").replace("%i", "x")
            [line] = re.findall(r"^ExecStart=(.*)$", re.sub(r"\\\n", " ", text), re.MULTILINE)
            started = subprocess.run(shlex.split(line), capture_output=True, text=True, check=False,
                                     env={"PATH": os.environ["PATH"]})
            self.assertEqual((started.returncode, started.stdout), (2, ""), unit)
            self.assertRegex(started.stderr, f"^[^\n]*{file}[^\n]* start the service again.\n$")
            self.assertIn(" missing", started.stderr)
            self.assertNotIn("  ", started.stderr)

    @unittest.skipUnless(shutil.which("systemd-analyze"), "no systemd-analyze")
    def test_systemd_takes_the_units_and_they_are_hardened(self):
        for unit in UNITS:
            path = self.units / unit
            done = subprocess.run(["systemd-analyze", "verify", "--man=no", path], text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
            self.assertEqual((done.returncode, done.stdout), (0, ""), unit)
            said = output_of("systemd-analyze", "security", "--offline=true", "--no-pager", path)
            exposure = float(re.search(r"exposure level for \S+: ([\d.]+)", said)[1])
            self.assertLessEqual(exposure, EXPOSURE, said)


if __name__ == "__main__":
    missing = [tool for tool in ("cpack", "dpkg-deb", "dpkg-shlibdeps") if not shutil.which(tool)]
    if missing:
        print("skipped: no " + ", ".join(missing))
        sys.exit(77)
    unittest.main(verbosity=2)
