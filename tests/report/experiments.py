"""The lab and what it is run on, for the tests of its results."""
import os
import pathlib
import subprocess

SKIPPED = 77  # ctest's SKIP_RETURN_CODE
ROOT = pathlib.Path(__file__).resolve().parents[2]
LAB = os.environ.get("OUTRIDER_LAB_PROGRAM", str(ROOT / "build/release/bin/outrider-lab"))
# What a program built with LeakSanitizer does not have to answer for.
ENVIRONMENT = dict(os.environ, LSAN_OPTIONS=f"suppressions={ROOT / 'tests/linux/leaks.supp'}:"
                   "print_suppressions=0")

# A text that would do something if anything took it for more than a text.
QUESTION = "</script><script>throw 1</script><img src=x onerror='throw 2'> & <b>why</b>?"

SWEEP = """
[[sweep]]
transport.controller = ["reno"]
arms = ["off", "on"]

[[sweep]]
job.burst_bytes = ["50kB"]
arms = ["off", "on", "on-hold-spared"]

[[sweep]]
h_packets = [10]
arms = ["off", "on"]
"""

# 40 places under two leaves: more links to hosts than have a line of their own over time.
FABRIC = """
name = "fabric"
question = "Which links are busy?"

[fabric]
kind = "leaf_spine"
leaves = 2
spines = 2
hosts_per_leaf = 20
host_rate = "10gbit"
host_delay = "1us"
uplink_rate = "10gbit"
uplink_delay = "2us"

[network]
measured = "worst"

[[hosts]]
name = "other"
count = 34
placement = "spread"

[background]
from = "other"
to = "other"

[[job]]
name = "ps"
workers = 2
placement = "spread"

[[job]]
name = "ring"
workers = 3
collective = "ring"
placement = "spread"

[parameters]
job.burst_bytes = "300kB"
job.iterations = 4
skip_iterations = 1
warm_up_seconds = 0.001
job.period = "3ms"
background.flows_per_pair = 0
background.load = 0.1
background.sizes = "%s"
transport.controller = "dctcp"
transport.min_rto = "2ms"
transport.initial_rto = "4ms"
transport.delayed_ack = "500us"
switch.queue.limit_packets = 400
switch.marker.threshold_packets = 60

[[arm]]
label = "off"

[[arm]]
label = "on"
switch.regulation.mode = "mark"
"""


# One arm has two settings of its queue, one has neither RoCEv2 nor pauses.
ROCE = """
base = "%s"
name = "roce"
question = "What do pauses do to bursts over RoCEv2?"

[parameters]
job.iterations = 3
job.period = "10ms"
warm_up_seconds = 0.01
background.flows_per_pair = 0

[[arm]]
label = "no pauses"
%s"""

PAUSED_ARMS = """
[[arm]]
label = "off-pfc"
switch.queue.lossless.xoff_bytes = "50KB"

[[arm]]
label = "off-tcp"
ddl.transport.protocol = "tcp"

[[sweep]]
switch.queue.lossless.xoff_bytes = ["25KB"]
arms = ["off-pfc"]
"""


# Groups of background of three kinds.
GROUPS = """
name = "groups"
question = "What does each group of background pay?"

[network]
rate = "1gbit"
rtt = "200us"
background_hosts = 2

[parameters]
workers = 2
job.burst_bytes = "100kB"
job.iterations = 3
job.period = "100ms"
warm_up_seconds = 0.1
background.start_spread = "10ms"
switch.queue.limit_packets = 200
switch.marker.threshold_packets = 20

[[background]]
name = "bulk"
long_flows = 2
transport.controller = "dctcp"

[[background]]
name = "storage"
from = "worker"
load = 0.1
sizes = "hadoop"

[[background]]
name = "service"
requests = { connections = 2, request_bytes = 500, response_bytes = 5000, think = "2ms" }

[[arm]]
label = "tail drop"

[[arm]]
label = "on"
switch.regulation.mode = "pace"
"""


def lab(*words):
    """Runs it. @return exit status and what it said on standard error"""
    done = subprocess.run([LAB, *map(str, words)], capture_output=True, text=True, check=False,
                          env=ENVIRONMENT)
    return done.returncode, done.stderr


def run(directory, name, question=None, attribution=False, sweep=False, seeds=2, jobs=1):
    """conf/experiments/quick.toml, changed. @return the directory of its results"""
    text = (ROOT / "conf/experiments/quick.toml").read_text(encoding="utf-8")
    lines = text.splitlines()
    if question is not None:
        lines = [f"question = '''{question}'''" if line.startswith("question =") else line
                 for line in lines]
    if attribution:
        lines.insert(lines.index("[parameters]") + 1, "trafficgen.attribution = true")
    if jobs > 1:
        lines.insert(lines.index("[parameters]") + 1, f"jobs = {jobs}")
    file = pathlib.Path(directory) / f"{name}.toml"
    text = "\n".join(lines) + (SWEEP if sweep else "\n")
    file.write_text(text.replace('"off"', '"tail drop"') if sweep else text, encoding="utf-8")
    return results_of(file, seeds)


def run_fabric(directory, seeds=2):
    """FABRIC. @return the directory of its results"""
    file = pathlib.Path(directory) / "fabric.toml"
    file.write_text(FABRIC % (ROOT / "conf/distributions/web-search.cdf"), encoding="utf-8")
    return results_of(file, seeds)


def run_groups(directory, seeds=3):
    """GROUPS. @return the directory of its results"""
    file = pathlib.Path(directory) / "groups.toml"
    file.write_text(GROUPS, encoding="utf-8")
    return results_of(file, seeds)


def run_roce(directory, name="roce", pauses=True, seeds=2):
    """ROCE, with or without its arms that have pauses. @return the directory of its results"""
    file = pathlib.Path(directory) / f"{name}.toml"
    file.write_text(ROCE % (ROOT / "conf/experiments/roce.toml", PAUSED_ARMS if pauses else ""),
                    encoding="utf-8")
    return results_of(file, seeds)


def results_of(file, seeds):
    out = file.with_suffix("")
    status, said = lab("run", file, "--repeat", seeds, "--jobs", 1, "--out", out)
    if status != 0:
        raise RuntimeError(f"outrider-lab: exit status {status}: {said}")
    return out
