"""A sweep whose parts are started over `ssh`, by a script of docs/scale.md.

A stand-in for `ssh` notes the machine and runs the command here: no server is started. So the tests
show that the commands are right, and nothing of other machines.
"""
import os
import pathlib
import subprocess
import tempfile
import unittest

import page

PATIENCE = 120  # seconds, of failing tests
NODES = ["node1", "node2", "node3"]
# Options go, with their values; a machine and a command are left. The command begins in another
# folder, as after a login, so that it has to say where it works.
SSH = """#!/bin/bash
while [[ $1 == -* ]]; do
  [[ $1 != -[BbcDEeFIiJLlmOopQRSWw] ]] || shift
  shift
done
echo "$1" >>"{log}"
shift
[[ $1 != -- ]] || shift
cd / && exec bash -c "$*"
"""


class Starters(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory(prefix="outrider-scale-")
        cls.addClassCleanup(scratch.cleanup)
        cls.scratch = pathlib.Path(scratch.name)
        subprocess.run([page.LAB, "run", *page.CASES, "--out", cls.scratch / "run"], check=True,
                       capture_output=True, timeout=PATIENCE)

    def setUp(self):
        self.place = self.scratch / self.id().rsplit(".", maxsplit=1)[-1]
        self.log = self.place / "machines"
        (self.place / "bin").mkdir(parents=True)
        (self.place / "nodes").write_text("".join(f"{node}\n" for node in NODES), encoding="ascii")
        self.write_program("ssh", SSH.replace("{log}", str(self.log)))
        self.write_program("outrider-lab", f'#!/bin/bash\nexec {page.LAB.resolve()} "$@"\n')

    def write_program(self, name, text):
        program = self.place / "bin" / name
        program.write_text(text, encoding="ascii")
        program.chmod(0o755)

    def expect_results_of_run(self, script):
        environment = dict(os.environ, PATH=f"{self.place}/bin:{os.environ['PATH']}",
                           HOME=str(self.place))
        done = subprocess.run(["bash", "-uc", script], cwd=self.place, env=environment, text=True,
                              capture_output=True, check=False, timeout=PATIENCE)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        page.expect_same_results(self, self.place / page.RESULTS_OF_PAGE, self.scratch / "run")
        self.assertEqual(set(self.log.read_text("ascii").split()), set(NODES))
