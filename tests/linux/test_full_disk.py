#!/usr/bin/env python3
"""A disk that is full at some write: the file and the cause are named, and no half file has its name.

Each writer runs on file systems with ever more room, until everything fits."""
import contextlib
import json
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
import unittest

import lab

LAB = os.environ.get("OUTRIDER_LAB_PROGRAM", "build/release/bin/outrider-lab")
AGENT = os.environ.get("OUTRIDER_HOSTAGENT_PROGRAM", "build/release/bin/outrider-hostagent")
DOCTOR = os.environ.get("OUTRIDER_DOCTOR_PROGRAM", "build/release/bin/outrider-doctor")
CONF = lab.HERE.parent.parent / "conf"
PAGE = 4  # KiB


def mount(directory, kib):
    return subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={kib}k", "outrider", directory],
                          capture_output=True, text=True, check=False)


class Disk:
    """A file system with `pages` that are free; one more is taken, because none has no page."""

    def __init__(self, pages):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="outrider-full-"))
        done = mount(self.directory, PAGE * (pages + 1))
        if done.returncode != 0:
            self.directory.rmdir()
            raise RuntimeError(done.stderr.strip())
        (self.directory / "taken").write_bytes(bytes(PAGE * 1024))

    def __enter__(self):
        return self.directory

    def __exit__(self, *_):
        subprocess.run(["umount", self.directory], check=True)
        self.directory.rmdir()


def whole(path):
    """Whether the reader of a file finds all of it."""
    data = path.read_bytes()
    if path.suffix == ".sqlite":
        with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
            return database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    if path.suffix == ".json":
        try:
            json.loads(data)
        except ValueError:
            return False
    return data.endswith((b"\n", b"</html>")) or path.suffix in (".pcap", ".run")


class FullDisk(unittest.TestCase):
    def run_at(self, pages, prepare, *words):
        """@return exit status, output, files by name"""
        with Disk(pages) as disk:
            if prepare is not None:
                prepare(disk)
            done = subprocess.run([str(w).replace("DISK", str(disk)) for w in words],
                                  capture_output=True, text=True, check=False, timeout=lab.PATIENCE,
                                  env=lab.ENVIRONMENT)
            files = {p.name: whole(p) for p in disk.rglob("*")
                     if p.is_file() and p.name != "taken"}
        return done.returncode, done.stdout + done.stderr, files

    def check(self, *words, prepare=None, steps=(0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 2000)):
        failures = 0
        for pages in steps:
            with self.subTest(words[0], free_pages=pages):
                status, output, files = self.run_at(pages, prepare, *words)
                self.assertEqual([name for name, good in files.items() if not good], [])
                self.assertEqual([name for name in files if "part" in name], [])
                if status == 0:
                    continue
                failures += 1
                self.assertGreater(status, 0, output)
                self.assertIn("No space left on device", output)
        self.assertGreater(failures, 0, "it never was full")
        self.assertEqual(status, 0, output)

    def test_a_key(self):
        self.check(lab.SWITCH, "keygen", "DISK/key", steps=(0, 1))

    def test_a_preview(self):
        for sample, name in (("web-search.toml", "p.csv"), ("imix.toml", "p.pcap")):
            self.check(lab.GENERATOR, "--config", CONF / "trafficgen" / sample, "--preview",
                       f"DISK/{name}", "--duration", "1s" if name == "p.csv" else "1ms")

    def test_results_of_an_experiment(self):
        self.check(LAB, "run", CONF / "experiments/quick.toml", "--out", "DISK/out", "--jobs", "1",
                   steps=(0, 1, 3, 8, 21, 55, 144, 377, 5000))

    def test_pages_of_measurement(self):
        docs = lab.HERE.parent.parent / "docs"

        def pages(disk):
            for name in ("measurement.md", "summary.schema.json"):
                with open(disk / name, "wb") as file:
                    file.write((docs / name).read_bytes())

        size = sum(-(-(docs / name).stat().st_size // (PAGE * 1024))
                   for name in ("measurement.md", "summary.schema.json"))
        self.check(LAB, "metrics", "--renew", "DISK", prepare=pages,
                   steps=(size, size + 1, size + 2, size + 2000))

    def test_a_capture_ends_and_forwarding_goes_on(self):
        text = "".join(f"""
[[device]]
name = "{name}"
device = "net_null{name},size=1500"
""" for name in "12") + """
[[switch]]
name = "s"
[switch.l2]
learning = true
""" + "".join(f"""
[[switch.port]]
name = "{name}"
device = "{name}"
drain_rate = "1gbit"
""" for name in "12")
        with Disk(25) as disk, tempfile.NamedTemporaryFile("w", suffix=".toml") as config:
            config.write(text)
            config.flush()
            done = subprocess.run([lab.SWITCH, "--config", config.name, "--duration", "300ms",
                                   "--capture", f"s.2={disk}/c.pcapng", "--capture-snap", "1400"],
                                  capture_output=True, text=True, check=False, timeout=lab.PATIENCE,
                                  env=lab.ENVIRONMENT)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, r"--capture .*: No space left on device \(errno 28\); it ends here")
        self.assertRegex(done.stderr, r"capture of s\.2: \d+ packets")

    def test_standard_output(self):
        key = pathlib.Path(tempfile.mkdtemp(prefix="outrider-key-")) / "key"
        commands = [
            [lab.SWITCH, "--config", CONF / "switch/l2-bridge.toml", "--check"],
            [lab.SWITCH, "keygen", key],
            [lab.GENERATOR, "--config", CONF / "trafficgen/imix.toml", "--check"],
            [LAB, "metrics"],
            [LAB, "plan", CONF / "experiments/quick.toml"],
        ]
        for program in (lab.SWITCH, lab.GENERATOR, LAB, AGENT, DOCTOR):
            commands += [[program, "--help"], [program, "--version"]]
        commands += [[LAB, "run", "--help"], [lab.GENERATOR, "replay", "--help"]]
        try:
            for command in commands:
                with self.subTest(command), open("/dev/full", "w", encoding="ascii") as full:
                    done = subprocess.run(list(map(str, command)), stdout=full, check=False,
                                          stderr=subprocess.PIPE, text=True, env=lab.ENVIRONMENT)
                    self.assertEqual(done.returncode, 1, done.stderr)
                    self.assertIn("standard output: cannot be written: No space left on device",
                                  done.stderr)
                    self.assertFalse(key.exists(), "a key that nobody could read of")
        finally:
            key.unlink(missing_ok=True)
            key.parent.rmdir()


if __name__ == "__main__":
    try:
        with Disk(1):
            pass
    except (RuntimeError, PermissionError) as error:
        print(f"skipped: no tmpfs may be mounted: {error}")
        sys.exit(lab.SKIPPED)
    unittest.main(verbosity=2)
