#!/usr/bin/env python3
"""Every command of README and docs/ works as it is written there.

Every program and script is asked whether it knows its options, and what belongs to the system
is not run: see RUN and SYSTEM. Ten blocks of commands, or all with OUTRIDER_FULL=1, are run in a
directory that looks like the project's: a command that still works after a few seconds is
ended with Ctrl-C, and has to end well. A command of any other program is a fault: say here
how to test it.
"""
import argparse
import glob
import itertools
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import commands

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = pathlib.Path(os.environ.get("OUTRIDER_PROGRAMS", ROOT / "build/release/bin"))
RUNS_FOR = 2  # seconds
PATIENCE = 60  # seconds, of failing tests
UNTIL_DONE = "--case"  # commands with this are needed by a later one to have ended

RUN = {"outrider-lab", "outrider-switch", "outrider-trafficgen", "outrider-doctor",
       "outrider-hostagent"}
BLOCKS = 10  # that are run without OUTRIDER_FULL
SYSTEM = {"ip", "ethtool", "sysctl", "modprobe", "dpdk-devbind.py", "dpdk-telemetry.py", "valgrind",
          "kill", "scp"}
# Exit statuses beside 0, and 130 after Ctrl-C: 1 of the doctor says that it has found something.
ENDS = {"outrider-doctor": {0, 1}}
# The last: the reader's copies of docs/testbed.md, which name NICs.
NEEDS_DEVICE = re.compile(r"net_tap|net_af_|--testbed |outrider-hostagent|[0-9a-f]{4}:[0-9a-f]{2}:|"
                          r"--config (switch|trafficgen|streams)\.toml(?! --check$)")
# What a placeholder stands for, by program.
PLACEHOLDERS = {
    ("outrider-lab", "FILE"): "conf/experiments/quick.toml",
    ("outrider-lab", "search FILE"): "conf/experiments/front.toml",
    ("outrider-lab", "DIR"): "results/made",
    ("outrider-lab", "best DIR..."): "results/made",
    ("outrider-lab", "DIR..."): "whole",
    ("outrider-lab", "A"): "results/made",
    ("outrider-lab", "B"): "results/made",
    ("outrider-lab", "results/before"): "results/made",
    ("outrider-lab", "results/after"): "results/made",
    ("outrider-switch", "FILE"): "conf/switch/hosts-and-switch.toml",
    ("outrider-trafficgen", "FILE"): "conf/trafficgen/imix.toml",
}


def documents():
    return [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md"))]


def name_of(program):
    return pathlib.Path(program).name


def is_program(word):
    return (name_of(word) in RUN | SYSTEM or word == "..." or
            word.startswith(("tools/", "build/", "python3", "outrider-")))


def is_built_by_name(program):
    """Whether it is a benchmark or the program of tests, which are not run here."""
    name = program.removeprefix("outrider-").replace("-", "_")
    return program == "outrider-virtual-tests" or (ROOT / f"tests/bench/{name}.cc").is_file()


def list_of(text):
    return text.split(",")


class Documented(unittest.TestCase):
    CHOICE = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    CHOICE.add_argument("--arms", type=list_of, default=[])
    CHOICE.add_argument("--where", type=list_of, default=[])

    @classmethod
    def setUpClass(cls):
        cls.groups = [group for document in documents()
                      for group in commands.commands(str(document.relative_to(ROOT)),
                                                     document.read_text(encoding="utf-8"),
                                                     is_program)]
        cls.directory = tempfile.TemporaryDirectory(prefix="outrider-docs-")
        cls.addClassCleanup(cls.directory.cleanup)
        cls.place = pathlib.Path(cls.directory.name)
        (cls.place / "build/release").mkdir(parents=True)
        (cls.place / "build/release/bin").symlink_to(PROGRAMS)
        for name in ("tools", "tests", "docs"):
            (cls.place / name).symlink_to(ROOT / name)
        shutil.copytree(ROOT / "conf", cls.place / "conf")
        for name, document in (("probe", "docs/streams.md"), ("own-thresholds", "docs/howto-thresholds.md")):
            (cls.place / f"{name}.toml").write_text(cls.block(document, "toml"), encoding="utf-8")
        cls.copies_of_the_testbed()
        cls.helps = {}

    @classmethod
    def copies_of_the_testbed(cls):
        """What docs/testbed.md has its reader copy, with the whole path of the model."""
        for name, file in (("switch", "switch/two-nics"), ("trafficgen", "trafficgen/two-nics"),
                           ("streams", "trafficgen/two-nics-streams")):
            text = (ROOT / f"conf/{file}.toml").read_text(encoding="utf-8")
            (cls.place / f"{name}.toml").write_text(
                text.replace('"../models/', f'"{ROOT}/conf/models/'), encoding="utf-8")

    @staticmethod
    def block(document, language):
        text = (ROOT / document).read_text(encoding="utf-8")
        return "\n".join(next(lines for _, kind, lines in commands.blocks(text) if kind == language))

    def of_results_made(self, words):
        """The command on results that are there. Those of the experiment that a page speaks of
        take minutes, so its choice of lines is checked against the experiment's cases instead."""
        if words[:2] == ["outrider-lab", "best"]:
            return ["results/made" if word.startswith("results/") else word for word in words]
        if words[:2] != ["outrider-lab", "table"] or not words[2].startswith("results/"):
            return words
        file = f"conf/experiments/{words[2].removeprefix('results/')}.toml"
        if not (ROOT / file).is_file():  # of an experiment that the page has
            return [*words[:2], "results/made", *words[3:]]
        plan = subprocess.run([PROGRAMS / "outrider-lab", "plan", file], cwd=self.place, text=True,
                              capture_output=True, check=True, timeout=PATIENCE).stdout
        cases = [line.split(" seed ")[0].split() for line in plan.splitlines() if " seed " in line]
        chosen, others = self.CHOICE.parse_known_args(words[3:])
        labels = {case[0] for case in cases}
        self.assertLessEqual(set(chosen.arms), labels, f"{file} has no such arm")
        values = {value for case in cases for value in case[1:]}
        self.assertLessEqual(set(chosen.where), values, f"{file} has no such point")
        return [*words[:2], "results/made", *others]

    def start(self, command):
        program = name_of(command.words[0])
        command_words = self.of_results_made([program, *command.words[1:]])
        before = ["", *command_words]
        words = [PLACEHOLDERS.get((program, f"{last} {word}"), PLACEHOLDERS.get((program, word), word))
                 for last, word in zip(before, command_words)]
        words = [found for word in words for found in
                 (sorted(glob.glob(word, root_dir=self.place)) if "*" in word else [word])]
        log = tempfile.TemporaryFile()  # closed with the process
        # Sockets of its own: another test, or a user, may have the file's.
        process = subprocess.Popen([PROGRAMS / program, *words[1:]], cwd=self.place, stdout=log,
                                   stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                                   env=dict(os.environ, XDG_RUNTIME_DIR=str(self.place)))
        self.addCleanup(log.close)
        self.addCleanup(lambda: process.poll() is None and process.kill())
        return command, process, log

    def ends_well(self, command, process, log, deadline):
        while process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)
        if interrupted := process.poll() is None:
            process.send_signal(signal.SIGINT)
        try:
            status = process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            status = "none: Ctrl-C did not end it"
        log.seek(0)
        said = log.read().decode(errors="replace")
        # Shells show 130 for both: for a program that ends in order, and for one, `plan` say, that
        # has nothing to put in order and leaves the signal to the kernel.
        by_signal = {130, -signal.SIGINT} if interrupted else set()
        allowed = ENDS.get(name_of(command.words[0]), {0}) | by_signal
        self.assertIn(status, allowed, f"{command}\n{said[-2000:]}")
        return said

    @staticmethod
    def runnable(group):
        """Commands that need nothing but the programs. A pattern of the shell names what other
        machines have made."""
        return [c for c in group if name_of(c.words[0]) in RUN
                and not NEEDS_DEVICE.search(" ".join(c.words)) and "*" not in " ".join(c.words)]

    def test_programs_do_what_the_documents_say(self):
        made = commands.Command("first", ["outrider-lab", "run", "conf/experiments/quick.toml",
                                          "--repeat", "3", "--out", "results/made"])
        whole = commands.Command("part", ["outrider-lab", "run", "conf/experiments/quick.toml", "--case",
                                          "1/1", "--out", "whole"])
        for first in (made, whole):
            self.ends_well(*self.start(first), time.monotonic() + PATIENCE)
        ran = 0
        blocks = [runnable for group in self.groups if (runnable := self.runnable(group))]
        self.assertGreater(len(blocks), 2 * BLOCKS, "the documents have more commands than that")
        if not os.environ.get("OUTRIDER_FULL"):
            # From all over the documents; pages of experiments have all the same commands.
            blocks = [b for b in blocks if "docs/experiments/" not in b[0].place]
            blocks = [blocks[i * len(blocks) // BLOCKS] for i in range(BLOCKS)]
        for runnable in blocks:
            # Two programs that talk with each other run side by side.
            together = len({name_of(c.words[0]) for c in runnable}) > 1
            started = []
            for command in runnable:
                with self.subTest(command=str(command)):
                    started.append(self.start(command))
                    ran += 1
                    if not together:
                        until = PATIENCE if UNTIL_DONE in command.words else RUNS_FOR
                        self.ends_well(*started.pop(), time.monotonic() + until)
            deadline = time.monotonic() + RUNS_FOR
            for one in started:
                with self.subTest(command=str(one[0])):
                    self.ends_well(*one, deadline)
        self.assertGreaterEqual(ran, BLOCKS)

    def help_of(self, words):
        """Of a program or script, and of its subcommand."""
        program = name_of(words[0])
        path = PROGRAMS / program if program in RUN else ROOT / words[0]
        sub = words[1:2] if program in RUN and words[1:2] and words[1][0] != "-" else []
        key = (str(path), *sub)
        if key not in self.helps:
            done = subprocess.run([path, *sub, "--help"], capture_output=True, text=True,
                                  cwd=self.place, check=False, timeout=PATIENCE)
            self.assertEqual(done.returncode, 0, f"{path} --help: {done.stderr}")
            self.helps[key] = done.stdout
        return self.helps[key]

    def test_options_are_known(self):
        asked = 0
        for command in itertools.chain.from_iterable(self.groups):
            program = name_of(command.words[0])
            if program not in RUN and not command.words[0].startswith("tools/"):
                continue
            for word in command.words[1:]:
                if not word.startswith("--") or word == "--":
                    continue
                with self.subTest(command=str(command)):
                    self.assertRegex(self.help_of(command.words), re.escape(word.split("=")[0]) + r"\b")
                    asked += 1
        self.assertGreater(asked, 20)

    def test_what_is_named_is_there(self):
        for command in itertools.chain.from_iterable(self.groups):
            program = name_of(command.words[0])
            with self.subTest(command=str(command)):
                if program in SYSTEM or program in RUN or is_built_by_name(program):
                    pass
                elif program == "python3":
                    self.assertTrue((ROOT / command.words[1]).is_file())
                else:
                    self.assertTrue(os.access(ROOT / command.words[0], os.X_OK),
                                    "no program of the project or of SYSTEM")
                for word in command.words[1:]:
                    if word.endswith(".key"):
                        continue  # a secret, which a command makes
                    if word.startswith(("conf/", "tests/", "docs/")):
                        self.assertTrue((ROOT / word).exists(), word)

    def test_the_blocks_of_the_experiments_page_are_experiments(self):
        text = (ROOT / "docs/experiments.md").read_text(encoding="utf-8")
        whole = ["\n".join(lines) for _, kind, lines in commands.blocks(text) if kind == "toml"]
        shortest, dumbbell = whole[:2]
        first = next(block for block in whole if block.startswith("name ="))
        ways = [block for block in whole if block.startswith("[[arm]]")]
        self.assertEqual(len(ways), 1)
        files = [shortest, f'{dumbbell}\n[[arm]]\nlabel = "off"\n', *(f"{first}\n{way}" for way in ways)]
        for number, content in enumerate(files):
            file = self.place / f"conf/experiments/way{number}.toml"
            file.write_text(content, encoding="utf-8")
            done = subprocess.run([PROGRAMS / "outrider-lab", "check", file], capture_output=True,
                                  text=True, check=False, timeout=PATIENCE)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_the_block_of_the_fabric_page_is_a_network_with_jobs(self):
        text = (ROOT / "docs/fabric.md").read_text(encoding="utf-8")
        block = next("\n".join(lines) for _, kind, lines in commands.blocks(text) if kind == "toml")
        file = self.place / "conf/experiments/fabric-page.toml"
        file.write_text(f'name = "page"\nquestion = "?"\n{block}\n[[arm]]\nlabel = "off"\n',
                        encoding="utf-8")
        done = subprocess.run([PROGRAMS / "outrider-lab", "check", file], capture_output=True,
                              text=True, check=False, timeout=PATIENCE)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_readme_shows_what_the_demo_prints(self):
        demo = ["run", ROOT / "conf/experiments/demo.toml", "--brief", "--out", self.place / "results/shown"]
        run = subprocess.run([PROGRAMS / "outrider-lab", *demo], cwd=self.place, text=True,
                             capture_output=True, check=True, timeout=PATIENCE)
        readme = (ROOT / "README.md").read_text(encoding="utf-8")
        begin = readme.index("What shortens a burst")
        shown = readme[begin:readme.index("```", begin)]
        self.assertIn(shown.rstrip(), run.stdout)


if __name__ == "__main__":
    if not (PROGRAMS / "outrider-lab").is_file():
        sys.exit(f"{PROGRAMS} has no programs; build them, or set OUTRIDER_PROGRAMS")
    unittest.main()
