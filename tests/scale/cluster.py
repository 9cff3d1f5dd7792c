"""A Slurm cluster of one machine, in a world of its own (own_world.py) that has loopback alone.

Nothing leaves the machine, nobody else's port, key, configuration or CPU is in the way, and the
kernel ends all daemons and jobs with the test, however that ends. Needs CAP_SYS_ADMIN.
"""
import ctypes
import os
import pathlib
import secrets
import shutil
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "hosts"))

import own_world  # pylint: disable=wrong-import-position

CLONE_NEWNET = 0x40000000
PATIENCE = 60  # seconds; of failing tests: a passing one never waits so long
PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "scancel", "sinfo", "squeue", "srun")
UNFINISHED = {"PENDING", "CONFIGURING", "RUNNING", "COMPLETING"}

# `node` is what slurmd finds here. No plugin uses cgroups: these belong to the whole machine.
CONFIGURATION = """
ClusterName=outrider
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={directory}/munge.socket
StateSaveLocation={directory}/state
SlurmdSpoolDir={directory}/spool
SlurmctldPidFile={directory}/slurmctld.pid
SlurmdPidFile={directory}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/affinity
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MpiDefault=none
{node} NodeAddr=127.0.0.1
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE
"""


def why_not():
    """What this machine lacks, or None."""
    for program in PROGRAMS:
        if shutil.which(program) is None:
            return f"{program} is not installed (tools/setup --slurm installs it)"
    return None


def enter_world():
    """Returns in a child. Raises OSError where that is not allowed."""
    own_world.enter()
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNET) != 0:
        error = ctypes.get_errno()
        raise OSError(error, f"no network namespace: {os.strerror(error)}")
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    # Slurm asks getaddrinfo() for addresses of a kind that the machine has, and 127.0.0.1 does not
    # count as one.
    subprocess.run(["ip", "address", "add", "127.0.0.2/8", "dev", "lo"], check=True)


class Cluster:
    """The daemons, their files in `directory`, and jobs, whose output is there too."""

    def __init__(self, directory, program_folder):
        """@param program_folder  of programs that jobs start by their names"""
        self.directory = directory
        self.daemons = []
        # A test may itself be a job of Slurm.
        self.environment = {name: value for name, value in os.environ.items()
                            if not name.startswith(("SLURM", "SBATCH", "SQUEUE", "SINFO", "SRUN"))}
        self.environment["SLURM_CONF"] = str(directory / "slurm.conf")
        self.environment["PATH"] = f"{program_folder}:{os.environ['PATH']}"

    def start(self):
        key = self.directory / "munge.key"
        key.write_bytes(secrets.token_bytes(128))
        key.chmod(0o400)
        for name in ("state", "spool"):
            (self.directory / name).mkdir()
        node = self.ask("slurmd", "-C").splitlines()[0]
        host = node.split()[0].removeprefix("NodeName=")
        (self.directory / "slurm.conf").write_text(CONFIGURATION.format(
            directory=self.directory, host=host, node=node), encoding="ascii")
        # Forced, as it complains of directories that a group may write to.
        self.start_daemon("munged", "--foreground", "--force", f"--key-file={key}",
                          f"--socket={self.directory}/munge.socket",
                          f"--pid-file={self.directory}/munge.pid",
                          f"--seed-file={self.directory}/munge.seed")
        self.wait_until("a socket of munged", (self.directory / "munge.socket").exists)
        self.start_daemon("slurmctld", "-D")
        self.start_daemon("slurmd", "-D")
        self.wait_until("an idle node", lambda: self.ask("sinfo", "--noheader", "--format", "%T",
                                                         may_fail=True) == "idle")

    def start_daemon(self, *words):
        with open(self.directory / f"{words[0]}.log", "wb") as log:
            self.daemons.append(subprocess.Popen(  # pylint: disable=consider-using-with
                words, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                env=self.environment))

    def ask(self, *words, may_fail=False):
        """@return what the program says"""
        done = subprocess.run(words, cwd=self.directory, env=self.environment, text=True,
                              capture_output=True, timeout=PATIENCE, check=False)
        if done.returncode != 0 and not may_fail:
            raise AssertionError(f"{words}: {done.stdout}{done.stderr}{self.logs()}")
        return done.stdout.strip()

    def submit(self, script, *options):
        """@return the job's number"""
        return self.ask("sbatch", "--parsable", *options, script)

    def states(self, job):
        """@return the state of each task of an array, in the order of their numbers"""
        lines = self.ask("squeue", "--noheader", "--array", "--states", "all", "--jobs", job,
                         "--format", "%K %T").splitlines()
        return [state for _, state in sorted((int(n), s) for n, s in map(str.split, lines))]

    def ended(self, job, seconds=PATIENCE):
        """@return states() once all tasks have ended"""
        self.wait_until(f"job {job} has ended",
                        lambda: UNFINISHED.isdisjoint(self.states(job)), seconds, pause=0.5)
        return self.states(job)

    def wait_until(self, what, holds, seconds=PATIENCE, pause=0.02):
        end = time.monotonic() + seconds
        while not holds():
            gone = [daemon.args[0] for daemon in self.daemons if daemon.poll() is not None]
            if gone or time.monotonic() > end:
                raise AssertionError(f"not in {seconds} s: {what}; ended: {gone}{self.logs()}")
            time.sleep(pause)

    def logs(self):
        return "".join(f"\n{path.name}:\n{path.read_text(errors='replace')[-5000:]}"
                       for pattern in ("*.log", "*.out")
                       for path in sorted(self.directory.glob(pattern)))
