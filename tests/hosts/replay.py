"""A recording of outrider-hostagent, and what outrider-trafficgen makes of its profile."""
import csv
import statistics
import subprocess

import lab

GENERATOR = """
lcore = {lcore}
[[device]]
name = "loop"
device = "net_ring0"
[[transport]]
name = "tcp"
controller = "cubic"
[[job]]
name = "replayed"
workers = [{workers}]
servers = ["server"]
transport = "tcp"
model = "{profile}"
iterations = {iterations}
[job.announce]
lead_source = "none"
"""
HOST = """
[[host]]
name = "{name}"
address = "10.0.0.{number}"
device = "loop"
rate = "{rate}"
"""


REPLAYED = 8  # iterations


def rows(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def recorded(directory):
    """@return bytes of each push, and [ms] from the end of each pull to the next push"""
    bursts = sorted(rows(directory / "bursts.csv"), key=lambda b: int(b["begun_ns"]))
    return ([int(b["bytes"]) for b in bursts if b["direction"] == "push"],
            [(int(b["begun_ns"]) - int(a["ended_ns"])) / 1e6 for a, b in zip(bursts, bursts[1:])
             if (a["direction"], b["direction"]) == ("pull", "push")])


def replayed(directory, worker):
    """The same of one worker, by the generator's records."""
    own = [b for b in rows(directory / "bursts.csv") if int(b["worker"]) == worker]
    pushes, pulls = ([b for b in own if b["direction"] == way] for way in ("push", "pull"))
    return ([int(b["bytes"]) for b in pushes],
            [(int(push["first_sent_ns"]) - int(pull["delivered_ns"])) / 1e6
             for pull, push in zip(pulls, pushes[1:])])


def replay(profile, setting, out, lcore):
    """Runs the generator, in real time over a ring of memory."""
    names = [f"worker{i}" for i in range(setting.workers)]
    text = GENERATOR.format(lcore=lcore, workers=", ".join(f'"{n}"' for n in names),
                            profile=profile.resolve(), iterations=REPLAYED)
    text += "".join(HOST.format(name=name, number=i + 1, rate=setting.rate)
                    for i, name in enumerate([*names, "server"]))
    out.mkdir(parents=True, exist_ok=True)
    (out / "trafficgen.toml").write_text(text, encoding="utf-8")
    done = subprocess.run([lab.GENERATOR, "--config", out / "trafficgen.toml", "--csv", out],
                          capture_output=True, text=True, check=False, timeout=lab.PATIENCE)
    if done.returncode != 0:
        raise AssertionError(f"outrider-trafficgen ended with {done.returncode}:\n{done.stderr}")


def compare(recording, setting, out, lcore):
    """@return medians and ranges of both, and by how much the medians differ"""
    replay(recording / "profile.toml", setting, out, lcore)
    sizes, gaps = recorded(recording)
    again_sizes, again_gaps = replayed(out, 0)
    def ratio(a, b):
        return statistics.median(b) / statistics.median(a) - 1
    return {
        "recorded": {"push_bytes": sizes, "gap_ms": gaps},
        "replayed": {"push_bytes": again_sizes, "gap_ms": again_gaps},
        "worst_size_error": max(abs(b / a - 1) for a in sizes for b in again_sizes),
        "median_gap_error": ratio(gaps, again_gaps),
    }
