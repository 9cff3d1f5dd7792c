#!/usr/bin/env python3
"""The Debian package that cpack makes of the build has the programs with what they need: they run
from where it puts them, and it names the packages of the libraries."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = pathlib.Path(os.environ.get("OUTRIDER_PROGRAMS", ROOT / "build/release/bin"))


def output_of(*words):
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True)
    if done.returncode != 0:
        raise AssertionError(f"{words[0]}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        directory = tempfile.TemporaryDirectory(prefix="outrider-package-")
        cls.addClassCleanup(directory.cleanup)
        made = pathlib.Path(directory.name)
        # As a release has it, but for xz, which takes most of a minute.
        output_of("cpack", "-D", "CPACK_DEBIAN_COMPRESSION_TYPE=gzip",
                  "--config", PROGRAMS.parent / "CPackConfig.cmake", "-B", made)
        [cls.package] = made.glob("*.deb")
        cls.tree = made / "tree"
        output_of("dpkg-deb", "--extract", cls.package, cls.tree)

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


if __name__ == "__main__":
    missing = [tool for tool in ("cpack", "dpkg-deb", "dpkg-shlibdeps") if not shutil.which(tool)]
    if missing:
        print("skipped: no " + ", ".join(missing))
        sys.exit(77)
    unittest.main(verbosity=2)
