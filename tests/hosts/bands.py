#!/usr/bin/env python3
"""Training jobs whose parameter servers share one Linux host, with and without TensorLights' bands.

Hosts are network namespaces of this machine on a Linux bridge; nothing of Outrider is in between. Each
job has its server on the first host and a worker on every other, over plain TCP. With bands, each job
has a class of htb at the servers' NIC as TensorLights' authors make it: rate 100kbit, ceil the link, one
of seven priorities, the same for ceil(jobs / 7) jobs. Only what servers send is classified, by its source
port. Without, all traffic has one class at the same rate.

Needs root (CAP_SYS_ADMIN, CAP_NET_ADMIN), and htb and u32 in the kernel. Nothing stays behind, however it
ends. While it runs it goes before other work of the machine.
"""
import argparse
import dataclasses
import pathlib
import re
import statistics
import sys

import own_world
import training_job

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE.parent / "linux"))

import lab  # pylint: disable=wrong-import-position

PREFIX = "10.77.0."
SERVER = PREFIX + "1"
FIRST_PORT = 5000
BANDS = 7
FLOOR = "100kbit"  # of each class
REST = "10"  # minor number of the class of all other traffic; jobs' follow
ARMS = ("fifo", "bands")
PATIENCE_S = 120  # of a run
CLASS = re.compile(r"class htb 1:(\w+) .*\n Sent (\d+) bytes")
TOOK = re.compile(r"iteration \d+: .*, (\d+\.\d+) ms")


@dataclasses.dataclass
class Setting:
    """What all runs share."""
    jobs: int = 6
    workers: int = 3
    compute_s: float = 0.1
    iterations: int = 15
    rate: str = "200mbit"
    scale: int = 4
    rounds: int = 3
    profile: pathlib.Path = ROOT / "conf/models/resnet32-cifar.toml"


def arguments(words):
    default = Setting()
    parser = argparse.ArgumentParser(prog="tools/demo-hosts bands", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    for field, text in (("jobs", "each with a server on the first host"),
                        ("workers", "of each job, one on every other host"),
                        ("compute_s", "seconds of computing in an iteration"),
                        ("iterations", "of each job"),
                        ("rate", "of the servers' NIC"),
                        ("scale", "divides the bytes of each tensor"),
                        ("rounds", "both arms, so often, by turns"),
                        ("profile", "model whose gradients are pushed")):
        value = getattr(default, field)
        parser.add_argument("--" + field.removesuffix("_s").replace("_", "-"), dest=field,
                            type=type(value) if field != "profile" else pathlib.Path,
                            default=value, help=f"{text} [{value}]")
    options = parser.parse_args(words)
    for name, good, rule in (
            ("jobs", 1 <= options.jobs <= 21, "1 to 21"),
            ("workers", 1 <= options.workers <= 20, "1 to 20"),
            ("compute", 0 <= options.compute_s <= 10, "0 to 10"),
            ("iterations", 1 <= options.iterations <= 1000, "1 to 1000"),
            ("rate", re.fullmatch(r"[1-9]\d*[kmg]bit", options.rate), "such as 200mbit"),
            ("scale", options.scale >= 1, "at least 1"),
            ("rounds", 1 <= options.rounds <= 100, "1 to 100"),
            ("profile", options.profile.is_file(), "a file of conf/models")):
        if not good:
            parser.error(f"--{name}: must be {rule}")
    return Setting(**vars(options))


def pulled_bytes(setting):
    """Returns what a job's server sends in a run: the parameters, to every worker."""
    return sum(training_job.tensor_bytes(setting)) * setting.workers * setting.iterations


def band_of(job, jobs):
    """Returns the priority of a job's class; the lowest borrows first."""
    return job // -(-jobs // BANDS)


def classes(setting, arm):
    """@return words of tc that give the servers' NIC its classes"""
    jobs = range(setting.jobs) if arm == "bands" else ()
    words = ["qdisc add dev eth0 root handle 1: htb default " + REST,
             f"class add dev eth0 parent 1: classid 1:1 htb rate {setting.rate}",
             f"class add dev eth0 parent 1:1 classid 1:{REST} htb rate {FLOOR} ceil {setting.rate} "
             f"prio {BANDS}"]
    for job in jobs:
        minor = int(REST) + 1 + job
        words += [f"class add dev eth0 parent 1:1 classid 1:{minor} htb rate {FLOOR} "
                  f"ceil {setting.rate} prio {band_of(job, setting.jobs)}",
                  f"filter add dev eth0 parent 1: protocol ip prio 1 u32 match ip sport "
                  f"{FIRST_PORT + job} 0xffff flowid 1:{minor}"]
    return words


class Run:
    """Hosts and jobs of one arm; close() ends all."""

    def __init__(self, setting, arm):
        self.setting = setting
        self.lab = lab.Lab()
        self.near = self.lab.namespace("bridge")
        lab.run("ip", "-n", self.near, "link", "add", "br0", "type", "bridge")
        lab.run("ip", "-n", self.near, "link", "set", "br0", "up")
        self.hosts = [self.host(i) for i in range(1 + setting.workers)]
        for words in classes(setting, arm):
            self.lab.run_in(self.hosts[0], "tc", *words.split())

    def close(self):
        self.lab.close()

    def host(self, number):
        device = f"h{number}"
        host = self.lab.linux_host(self.near, device, f"{PREFIX}{number + 1}/24", device)
        lab.run("ip", "-n", self.near, "link", "set", device, "master", "br0")
        return host

    def completions(self):
        """@return seconds of each job from its first iteration to the end of its last"""
        s = self.setting
        job = [sys.executable, HERE / "training_job.py"]

        def shape(j):
            return [SERVER, FIRST_PORT + j, "--profile", s.profile, "--scale", s.scale,
                    "--iterations", s.iterations]

        servers = [lab.Process(self.lab, self.hosts[0],
                               [*job, "server", *shape(j), "--workers", s.workers], f"server{j}")
                   for j in range(s.jobs)]
        for server in servers:
            server.says("ready")
        workers = {(j, w): lab.Process(self.lab, self.hosts[1 + w],
                                       [*job, "worker", *shape(j), "--rank", w, "--compute",
                                        s.compute_s], f"worker{j}-{w}")
                   for j in range(s.jobs) for w in range(s.workers)}
        for process in (*workers.values(), *servers):
            if process.wait(PATIENCE_S) != 0:
                raise AssertionError(f"a job failed:\n{process.output()}")
        return [max(sum(float(ms) for ms in TOOK.findall(workers[j, w].output()))
                    for w in range(s.workers)) / 1000 for j in range(s.jobs)]

    def sent_bytes(self):
        """@return bytes that each class of the servers' NIC has sent, by its minor number"""
        shown = self.lab.run_in(self.hosts[0], "tc", "-s", "class", "show", "dev", "eth0")
        return {minor: int(sent) for minor, sent in CLASS.findall(shown)}


def run_all(setting):
    """@return {arm: [completions of each job] of each round}, and the bytes of the last bands' classes"""
    found = {arm: [] for arm in ARMS}
    sent = {}
    for _ in range(setting.rounds):
        for arm in ARMS:
            run = Run(setting, arm)
            try:
                found[arm].append(run.completions())
                sent[arm] = run.sent_bytes()
            finally:
                run.close()
    return found, sent


def spread(values):
    return f"{statistics.median(values):.2f} [{min(values):.2f}, {max(values):.2f}]"


def say(setting, found):
    print(f"{setting.jobs} jobs of {setting.workers} workers, {setting.iterations} iterations of "
          f"{setting.compute_s} s of computing, servers' NIC {setting.rate}, {setting.rounds} rounds. "
          "Medians [least, greatest].\n")
    print("| | mean completion [s] | last - first [s] |")
    print("|---|---|---|")
    for arm, rounds in found.items():
        print(f"| {arm} | {spread([statistics.mean(r) for r in rounds])} | "
              f"{spread([max(r) - min(r) for r in rounds])} |")
    changes = [100 * (statistics.mean(b) / statistics.mean(f) - 1)
               for f, b in zip(found["fifo"], found["bands"])]
    print(f"\nBands change the mean completion by {statistics.median(changes):+.1f} % "
          f"[{min(changes):+.1f}, {max(changes):+.1f}].")


def why_not():
    """What this machine lacks, or None."""
    if (reason := lab.why_not()) is not None:
        return reason
    trial = lab.Lab()
    try:
        host = trial.namespace("trial")
        lab.run("ip", "-n", host, "link", "add", "eth0", "type", "veth", "peer", "name", "far")
        for words in classes(Setting(jobs=1), "bands"):
            trial.run_in(host, "tc", *words.split())
    except (RuntimeError, OSError) as error:
        return f"no htb, u32 or tc: {error}"
    finally:
        trial.close()
    return None


def main(words):
    setting = arguments(words)  # complains before anything is made
    try:
        own_world.enter()
        reason = why_not()
    except OSError as error:
        reason = f"{error.strerror}. Needs root."
    if reason is not None:
        print(f"tools/demo-hosts: {reason}", file=sys.stderr)
        return 3
    own_world.come_first()
    try:
        found, _ = run_all(setting)
    except (AssertionError, RuntimeError) as error:  # a program that did not do what it should
        print(f"tools/demo-hosts: {error}", file=sys.stderr)
        return 1
    say(setting, found)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
