"""The emulated hosts of a scenario: what outrider-lab writes of its runs."""
import csv
import dataclasses
import json
import pathlib
import re
import shutil
import subprocess
import tomllib


UNITS_S = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1}


def seconds(duration):
    """The seconds of a duration as summary.json has it, such as "20ms"."""
    number, unit = re.fullmatch(r"([\d.]+)([a-z]+)", duration).groups()
    return float(number) * UNITS_S[unit]


@dataclasses.dataclass
class Case:
    """One seed of one arm. Times are from the first byte that a NIC sends to the last byte read."""
    number: int  # in the run
    label: str
    seed: int
    parameters: dict
    settings: dict
    base_rtt_s: float
    short_p99_s: float  # completion of flows of background up to 100 kB; None: there were none
    capture: pathlib.Path | None = None  # of what left the measured port
    mean_queue_packets: float = 0.0  # of the measured port, after the warm-up
    background_bits_per_second: float = 0.0  # goodput: payload delivered, after the warm-up
    burst_times_s: list = dataclasses.field(default_factory=list)
    start_queues_packets: list = dataclasses.field(default_factory=list)


class Runs:
    """What outrider-lab makes of an experiment.

    @param some  options that choose among its cases
    """

    def __init__(self, program, experiment, out, some):
        self.program, self.experiment, self.out, self.some = program, experiment, out, some

    def run(self, runtime, repeat=None):
        """@param repeat  seeds; None: those of the file. @return a Case of each run"""
        seeds = [] if repeat is None else ["--repeat", str(repeat)]
        out = self.out / runtime
        subprocess.run([self.program, "run", self.experiment, "--brief", "--runtime", runtime,
                        "--out", out, *seeds, *self.some], check=True)
        return cases(out)

    def configs(self):
        """@return what the programs are given for each arm at each point, in the runs' order"""
        out = self.out / "configs"
        shutil.rmtree(out, ignore_errors=True)
        subprocess.run([self.program, "plan", self.experiment, "--repeat", "1", "--configs", out,
                        *self.some], check=True, stdout=subprocess.DEVNULL)
        return [config_of(folder) for folder in sorted(out.iterdir())]


def config_of(folder):
    """@return what switch and generator are given, each with its "text"."""
    files = ((folder / f"{name}.toml").read_text() for name in ("switch", "trafficgen"))
    return [tomllib.loads(text) | {"text": text} for text in files]


def measured_rows(out, name):
    with open(out / name, newline="", encoding="utf-8") as file:
        yield from (row for row in csv.DictReader(file) if row["run"] == "measured")


def cases(out):
    """@return a Case of each run in the directory"""
    summary = json.loads((out / "summary.json").read_text())
    found = [Case(i, c["label"], c["seed"], c["parameters"], c["settings"], c["base_rtt_seconds"],
                  c["metrics"].get("small_flow_completion_seconds_p99"))
             for i, c in enumerate(summary["cases"])]
    for case in found:
        paths = list((out / "captures").glob(f"{case.number:03}-{case.label}-seed{case.seed}.*"))
        case.capture = paths[0] if paths else None
    totals = [[0, 0, 0] for _ in found]  # sojourn [ns], bytes, time [ns]
    for row in measured_rows(out, "queue.csv"):
        number = int(row["case_index"])
        if int(row["begin_ns"]) < 1e9 * found[number].parameters["warm_up_seconds"]:
            continue
        for i, key in enumerate(("sojourn_ns", "background_delivered_bytes", "length_ns")):
            totals[number][i] += int(row[key] or 0)
    for case, (sojourn_ns, size, length_ns) in zip(found, totals):
        case.mean_queue_packets = sojourn_ns / length_ns
        case.background_bits_per_second = 8 * size / (length_ns / 1e9)
    for row in measured_rows(out, "bursts.csv"):
        case = found[int(row["case_index"])]
        case.start_queues_packets.append(int(row["start_background_packets"]))
        if int(row["delivered_ns"] or -1) > 0:
            took = int(row["delivered_ns"]) - int(row["first_sent_ns"])
            case.burst_times_s.append(took / 1e9)
    return found


def loopback_report(out, case):
    """@return what the switch of a case between two processes reported"""
    folder = out / "loopback" / "loopback" / f"{case.number}-{case.label}-seed{case.seed}"
    return json.loads((folder / "switch.json").read_text())
