#!/usr/bin/env python3
"""Goal: the tables of a result have what its metrics are made of: whoever wants a metric of another
kind can start from a query. Method: metrics of each case are made a second time, from queries of
results.sqlite alone, and compared with those that the program has stored. Experiments: jobs over
TCP with flows, over RoCEv2 with PFC, with pulls in a closed loop, with requests."""
import contextlib
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = pathlib.Path(os.environ.get("OUTRIDER_PROGRAMS", ROOT / "build/release/bin"))

sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tools/python"))
from outrider import Results

EXPERIMENTS = ("quick", "rfc7928", "roce", "pcn-training", "mixed-background", "multi-job",
               "prophet")

# Rows of a case, `?`, that its metrics are of.
MEASURED = """case_index = ?1 AND run = 'measured' AND iteration >= (SELECT value FROM parameters
  JOIN cases USING (arm) WHERE case_index = ?1 AND name = 'skip_iterations')"""
PUSHES = f"SELECT * FROM bursts WHERE {MEASURED} AND direction = 'push' AND bytes IS NOT NULL"
WORKERS = "(SELECT workers FROM jobs WHERE case_index = ?1 AND job = number)"


def complete(direction, value):
    """A value of each iteration that all workers' bursts of a direction ended."""
    return f"""SELECT job, {value} AS value FROM (SELECT *, job AS number FROM bursts
      WHERE {MEASURED} AND direction = '{direction}' AND bytes IS NOT NULL)
      GROUP BY job, iteration HAVING COUNT(first_sent_ns + delivered_ns) = COUNT(*)
      AND COUNT(*) = COALESCE({WORKERS}, COUNT(*))"""


def of_iterations(value, having):
    return f"""SELECT job, {value} AS value FROM (SELECT *, job AS number FROM iterations
      WHERE {MEASURED}) GROUP BY job, iteration
      HAVING {having} AND COUNT(*) = COALESCE({WORKERS}, COUNT(*))"""


def of_queue(value):
    """A value of each iteration of which the measured queue has seen a push."""
    return f"""SELECT job, {value} AS value FROM (SELECT *, ROW_NUMBER() OVER (
      PARTITION BY job, iteration ORDER BY queue_first_at_ns, worker) AS place FROM bursts
      WHERE {MEASURED} AND direction = 'push' AND queue_first_at_ns IS NOT NULL)
      GROUP BY job, iteration"""


def counted(counter, program, count="SUM(value)", where="1"):
    return f"""SELECT {count} FROM counters WHERE case_index = ?1 AND run = 'measured'
      AND program = '{program}' AND counter = '{counter}' AND {where}"""


def over_pushes(sql):
    return f"""SELECT 0, COALESCE(({sql}), 0) * 1.0 / NULLIF(COUNT(*), 0) FROM bursts
      WHERE case_index = ?1 AND run = 'measured' AND direction = 'push' AND bytes IS NOT NULL"""


def goodput(column):
    """A bin in which the span of goodputs begins or ends counts by its share."""
    return f"""SELECT 0, SUM({column} * (MIN(end, until) - MAX(begin, since)) / (end - begin))
      * 8e9 / (until - since) FROM
      (SELECT {column}, begin_ns - switch_ahead_ns AS begin,
        begin_ns - switch_ahead_ns + length_ns AS end,
        goodput_from_seconds * 1e9 AS since, goodput_to_seconds * 1e9 AS until
        FROM queue JOIN cases USING (case_index) JOIN runs USING (case_index, run)
        WHERE case_index = ?1 AND run = 'measured') WHERE begin < until AND end > since"""


COMMUNICATION = complete("push", "(MAX(delivered_ns) - MIN(due_ns)) / 1e9")
COMPLETION = complete("push", "MAX(delivered_ns - first_sent_ns) / 1e9")
PULL = complete("pull", "MAX(delivered_ns - first_sent_ns) / 1e9")
ITERATION = of_iterations("MAX(end_ns - begin_ns) / 1e9", "COUNT(begin_ns + end_ns) = COUNT(*)")
PARAMETERS = "COUNT(parameters_ns + first_gradient_ns) = COUNT(*)"
IDLE = "AVG(1 - 1.0 * {} / (parameters_ns - first_gradient_ns))"
PUSH = f"SELECT job, (delivered_ns - due_ns) / 1e9 FROM ({PUSHES}) WHERE delivered_ns - due_ns >= 0"
SHARE = f"SELECT 0, 1.0 * delivered_bytes / bytes FROM ({PUSHES}) WHERE delivered_ns IS NOT NULL"
BURST_RATE = f"""SELECT 0, bytes * 8e9 / (delivered_ns - first_sent_ns) FROM ({PUSHES}) JOIN
  (SELECT job AS j, iteration AS i FROM ({complete("push", "iteration")
      .replace("SELECT job,", "SELECT job, iteration,", 1)})) ON job = j AND iteration = i
  WHERE delivered_ns > first_sent_ns"""

# The metric, what is made of the values of a case, and the query for them: job, value.
METRICS = [
    ("communication_seconds_median", "median by job", COMMUNICATION),
    ("communication_seconds_mean", "mean by job", COMMUNICATION),
    ("communication_seconds_p99", "p99 by job", COMMUNICATION),
    ("burst_completion_seconds_median", "median by job", COMPLETION),
    ("pull_completion_seconds_median", "median by job", PULL),
    ("iteration_seconds_median", "median by job", ITERATION),
    ("iteration_seconds_p99", "p99 by job", ITERATION),
    ("push_seconds_mean", "mean by job", PUSH),
    ("push_seconds_p99", "p99 by job", PUSH),
    ("push_seconds_max", "most", PUSH),
    ("pushes_delivered", "number", PUSH),
    ("complete_iterations", "number", COMMUNICATION),
    ("push_delivered_share_mean", "mean", SHARE),
    ("ddl_throughput_bits_per_second_mean", "mean", BURST_RATE),
    ("rtos_per_burst", "mean", f"SELECT 0, rtos FROM ({PUSHES})"),
    ("forward_wait_seconds_median", "median by job",
     of_iterations("MAX(forward_wait_ns) / 1e9", PARAMETERS)),
    ("nic_send_idle_share_median", "median",
     of_iterations(IDLE.format("nic_sending_ns"), PARAMETERS)),
    ("nic_receive_idle_share_median", "median",
     of_iterations(IDLE.format("nic_receiving_ns"), PARAMETERS)),
    ("start_queue_packets_mean", "mean",
     of_queue("MAX(CASE place WHEN 1 THEN start_background_packets END)")),
    ("max_queue_packets_mean", "mean", of_queue("MAX(max_packets)")),
    ("background_goodput_bits_per_second", "mean", goodput("background_delivered_bytes")),
    ("ddl_goodput_bits_per_second", "mean", goodput("ddl_delivered_bytes")),
    ("burst_packets_dropped_per_burst", "mean",
     over_pushes(counted("drops", "switch", where="of IS NULL AND class = 'ddl'"))),
    ("roce_cnps_per_burst", "mean", over_pushes(counted("cnps_sent", "generator", where="part = 'roce'"))),
    ("pauses_per_burst", "mean", over_pushes(counted("pauses_sent", "switch"))),
    ("job_completion_seconds", "most",
     """SELECT 0, (MAX(end_ns) - MIN(begin_ns)) / 1e9 FROM iterations
       WHERE case_index = ? AND run = 'measured' GROUP BY job"""),
    ("regulated_share", "mean",
     """SELECT 0, COALESCE(SUM(value), 0) * 1.0 / end_ns FROM runs JOIN cases USING (case_index)
       LEFT JOIN counters ON counters.case_index = ?1 AND counters.run = runs.run AND counter =
       'regulated_ns' AND of = measured_switch || '.' || measured_port || '.' || measured_queue
       WHERE runs.case_index = ?1 AND runs.run = 'measured'"""),
]


def quantile(values, q):
    values = sorted(values)
    place = q * (len(values) - 1)
    below = int(place)
    above = min(below + 1, len(values) - 1)
    return values[below] + (place - below) * (values[above] - values[below])


MAKE = {
    "mean": lambda values: math.fsum(values) / len(values),
    "median": lambda values: quantile(values, 0.5),
    "p99": lambda values: quantile(values, 0.99),
    "most": max,
    "number": len,
}


def made_of(how, rows):
    """The figure of rows (job, value); with `by job`, the mean of each job's; None without any."""
    name, _, by_job = how.partition(" ")
    jobs = {}
    for job, value in rows:
        if value is not None:
            jobs.setdefault(job if by_job else 0, []).append(value)
    figures = [MAKE[name](values) for values in jobs.values()]
    return math.fsum(figures) / len(figures) if figures else None


class MetricsByQuery(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        directory = tempfile.TemporaryDirectory(prefix="outrider-metrics-")
        cls.addClassCleanup(directory.cleanup)
        cls.place = pathlib.Path(directory.name)

    @contextlib.contextmanager
    def run_of(self, experiment):
        out = self.place / experiment
        done = subprocess.run(
            [PROGRAMS / "outrider-lab", "run", ROOT / f"conf/experiments/{experiment}.toml",
             "--quick", "--out", out], text=True, capture_output=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        with Results(out) as results:
            yield results

    def test_queries_of_the_tables_give_the_metrics(self):
        defined = dict.fromkeys((name for name, *_ in METRICS), 0)
        for experiment in EXPERIMENTS:
            with self.run_of(experiment) as results:
                for row in results.rows(
                        "SELECT case_index, metric, value FROM case_metrics WHERE value IS NOT NULL"):
                    for name, how, sql in METRICS:
                        if name != row["metric"]:
                            continue
                        with self.subTest(experiment, metric=name, case=row["case_index"]):
                            found = made_of(how, [tuple(values.values())
                                                  for values in results.rows(sql, row["case_index"])])
                            self.assertIsNotNone(found)
                            self.assertAlmostEqual(found, row["value"],
                                                   delta=1e-9 * abs(row["value"]))
                            defined[name] += row["value"] != 0
        for name, cases in defined.items():
            with self.subTest(metric=name):
                self.assertGreater(cases, 0, "no case has it, or all have 0")


if __name__ == "__main__":
    unittest.main(verbosity=2)
