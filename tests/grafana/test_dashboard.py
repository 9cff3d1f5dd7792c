#!/usr/bin/env python3
"""The dashboard and the alerts of conf/grafana ask for what outrider-switch serves.

The shipped loopback configurations run a switch with a job's bursts and background, and Debian's
Prometheus reads it with the shipped configuration, on other ports and once a second. What
Grafana would ask that Prometheus for is asked here, with Grafana's variables filled in. When the
alerts fire is judged in promtool's own time. A comparison is asked for as `bool`, which answers
whatever the values are, so that no answer means a name or a label that does not exist.
"""
import atexit
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.parse
import urllib.request

SKIPPED = 77  # ctest's SKIP_RETURN_CODE
ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = pathlib.Path(os.environ.get("OUTRIDER_PROGRAMS", "build/release/bin")).resolve()
CONF = ROOT / "conf/grafana"
DASHBOARD = json.loads((CONF / "outrider-switch.json").read_text())
PATIENCE = 40  # seconds; of failing tests: a passing one never waits so long
RATE_INTERVAL = "4s"  # Grafana's $__rate_interval is four scrapes, too
KEYWORDS = {"and", "or", "unless", "by", "on", "without", "ignoring", "bool", "group_left"}


def free_ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


def panels(of):
    """Panels that are no rows, those in collapsed rows included."""
    for panel in of["panels"]:
        if panel["type"] == "row":
            yield from panels(panel)
        else:
            yield panel


def always(expression):
    """The expression with an answer for each series that it compares, whatever the result."""
    return re.sub(r"(\s(?:==|!=|>=|<=|>|<))(?=\s)", r"\1 bool", expression)


def metrics_of(expression):
    """Names of an expression that are neither functions nor keywords nor labels."""
    bare = re.sub(r"\{[^}]*\}|\[[^]]*\]|\b(by|on|without|ignoring)\s*\([^)]*\)", " ", expression)
    names = re.findall(r"(?<![\w.])([a-zA-Z_:][\w:]*)(?!\s*\(|\w)", bare)
    return set(names) - KEYWORDS


class Processes:
    """Programs in a directory of their own, killed by process id when the tests end."""

    def __init__(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="outrider-grafana-"))
        self.running = []
        atexit.register(self.close)

    def write(self, name, text):
        path = self.directory / name
        path.write_text(text)
        return path

    def start(self, name, *words):
        with open(self.directory / f"{name}.log", "wb") as log:
            process = subprocess.Popen(  # pylint: disable=consider-using-with
                list(map(str, words)), stdin=subprocess.DEVNULL, stdout=log,
                stderr=subprocess.STDOUT, cwd=self.directory)
        self.running.append(process)
        return process

    def logs(self):
        return "\n".join(f"{p.name}:\n{p.read_text(errors='replace')[-2000:]}"
                         for p in sorted(self.directory.glob("*.log")))

    def close(self):
        atexit.unregister(self.close)
        for process in self.running:
            process.kill()
            process.wait()
        shutil.rmtree(self.directory, ignore_errors=True)


def shipped(path, **values):
    """A shipped configuration with replacements. What they replace has to be in it."""
    text = (ROOT / path).read_text()
    for old, new in values.items():
        assert old in text, f"{path} has no {old}"
        text = text.replace(old, str(new))
    return text


class Live(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        run = cls.programs = Processes()
        cls.addClassCleanup(run.close)
        cls.switch_port, cls.prometheus_port = free_ports(2)
        sockets = {f"{end}.sock": run.directory / f"{end}.sock" for end in ("workers", "servers")}
        switch = shipped("conf/switch/loopback-leaf.toml", **sockets)
        endpoint = f'\n[telemetry]\nprometheus = "127.0.0.1:{cls.switch_port}"\n'
        generator = shipped("conf/trafficgen/loopback.toml", **sockets,
                            **{'first_due = "2s"': 'first_due = "100ms"'})
        cpus = sorted(os.sched_getaffinity(0))
        cls.switch = run.start("switch", PROGRAMS / "outrider-switch", "--lcore", cpus[0],
                               "--config", run.write("switch.toml", switch + endpoint))
        run.start("trafficgen", PROGRAMS / "outrider-trafficgen", "--lcore", cpus[-1],
                  "--config", run.write("trafficgen.toml", generator))
        shutil.copy(CONF / "alerts.yml", run.directory)
        config = shipped("conf/grafana/prometheus.yml", **{
            "127.0.0.1:9464": f"127.0.0.1:{cls.switch_port}", "_interval: 15s": "_interval: 1s"})
        run.start("prometheus", "prometheus", "--log.level=warn",
                  f"--config.file={run.write('prometheus.yml', config)}",
                  f"--storage.tsdb.path={run.directory / 'data'}",
                  f"--web.listen-address=127.0.0.1:{cls.prometheus_port}")
        # Once a START was seen to be armed between two scrapes, every rate has its two values.
        armed = f"rate(outrider_queue_starts_armed_total[{RATE_INTERVAL}]) > 0"
        cls.wait_for(lambda: cls.query(armed), "no START was armed")
        cls.variables = cls.values_of_variables()

    @classmethod
    def wait_for(cls, condition, failure):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            try:
                if condition():
                    return
            except OSError:  # Prometheus does not listen yet
                pass
            time.sleep(0.1)
        raise AssertionError(f"{failure}\n{cls.programs.logs()}")

    @classmethod
    def ask(cls, path, **parameters):
        """What Prometheus' HTTP API answers. @throws ValueError with its error"""
        url = (f"http://127.0.0.1:{cls.prometheus_port}/api/v1/{path}?"
               f"{urllib.parse.urlencode(parameters)}")
        try:
            with urllib.request.urlopen(url, timeout=PATIENCE) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as error:
            if error.code != 400:
                raise
            raise ValueError(json.load(error)["error"]) from None

    @classmethod
    def query(cls, expression):
        return cls.ask("query", query=expression)["result"]

    @classmethod
    def values_of_variables(cls):
        """Every value of each variable, as Grafana's All has them; each may use those before it."""
        values = {"__rate_interval": RATE_INTERVAL}
        for variable in DASHBOARD["templating"]["list"]:
            if variable["type"] == "datasource":
                continue
            query = cls.filled(variable["query"]["query"], values)
            series, label = re.fullmatch(r"label_values\((.*), (\w+)\)", query).groups()
            found = cls.ask(f"label/{label}/values", **{"match[]": series})
            values[variable["name"]] = "|".join(found)
        return values

    @staticmethod
    def filled(expression, values):
        return re.sub(r"\$(\w+)", lambda m: values[m.group(1)], expression)

    def fault_of(self, target):
        """What is wrong with a panel's query, or None."""
        try:
            found = self.query(always(self.filled(target["expr"], self.variables)))
        except (KeyError, ValueError) as error:
            return f"{target['expr']}: {error!r}"
        if not found:
            return f"{target['expr']}: no series"
        for label in re.findall(r"\{\{(\w+)\}\}", target["legendFormat"]):
            if label not in found[0]["metric"]:
                return f"{target['expr']}: has no label {label}"
        return None

    def test_variables_have_values(self):
        self.assertEqual(self.variables["instance"], f"127.0.0.1:{self.switch_port}")
        self.assertEqual(self.variables["switch"], "leaf|root")
        self.assertEqual(self.variables["port"], "down|p0|servers|up")

    def test_every_panel_has_an_answer(self):
        faults = [f"{panel['title']}: {fault}" for panel in panels(DASHBOARD)
                  for target in panel["targets"] if (fault := self.fault_of(target))]
        self.assertFalse(faults, "\n".join(faults))

    def test_what_does_not_exist_is_found(self):
        good = {"expr": 'outrider_queue_entries{port=~"$port"}', "legendFormat": "{{port}}"}
        self.assertIsNone(self.fault_of(good))
        for change in ({"expr": 'outrider_queue_entrys{port=~"$port"}'},
                       {"expr": 'outrider_queue_entries{prot=~"$port"}'},
                       {"expr": 'outrider_queue_entries{port=~"$prot"}'},
                       {"expr": 'sum by (port) outrider_queue_entries)'},
                       {"expr": "outrider_queue_entrys > 0"},
                       {"legendFormat": "{{prot}}"}):
            self.assertIsNotNone(self.fault_of(good | change), change)

    def test_traffic_is_seen(self):
        """So that the answers are not only zeros: of both classes, of marks and of regulation."""
        for title in ("Throughput by class", "Marks by reason", "Regulated share of time"):
            [panel] = [panel for panel in panels(DASHBOARD) if panel["title"] == title]
            # What comes in bursts may be between two of them.
            expression = panel["targets"][0]["expr"].replace("$__rate_interval", "1m")
            found = self.query(self.filled(expression, self.variables))
            classes = {s["metric"].get("class") for s in found if float(s["value"][1]) > 0}
            self.assertTrue(classes, title)
            if title == "Throughput by class":
                self.assertLessEqual({"background", "ddl"}, classes)

    def test_state_is_that_of_this_switch(self):
        """Links of the two ports with a device are up, most buffers free, the one lcore at work."""
        who = f'instance="127.0.0.1:{self.switch_port}"'
        links = {(s["metric"]["port"], s["value"][1]) for s in self.query(f"outrider_port_link_up{{{who}}}")}
        self.assertEqual(links, {("down", "1"), ("servers", "1")})
        [share] = self.query(f"outrider_pool_free_buffers{{{who}}} / outrider_pool_buffers{{{who}}}")
        self.assertEqual(share["metric"]["pool"], "packets")
        self.assertTrue(0.05 < float(share["value"][1]) <= 1, share)
        [busy] = self.query(f"rate(outrider_lcore_busy_ns_total{{{who}}}[1m]) / 1e9")
        self.assertEqual(busy["metric"]["lcore"], str(sorted(os.sched_getaffinity(0))[0]))
        self.assertTrue(0 < float(busy["value"][1]) <= 1)

    def test_alerts_name_what_exists(self):
        groups = self.ask("rules", type="alert")["groups"]
        rules = [rule for group in groups for rule in group["rules"]]
        self.assertEqual({rule["name"] for rule in rules}, set(FIRES))
        known = set(self.ask("label/__name__/values"))
        for rule in rules:
            names = metrics_of(rule["query"])
            self.assertTrue(names, rule["query"])
            self.assertLessEqual(names, known, rule["name"])
            self.assertTrue(self.query(always(rule["query"]).replace(" unless ", " or ")),
                            f"{rule['name']}: no series for {rule['query']}")

    def test_z_an_end_of_the_switch_is_noticed(self):  # the last one, as it ends the switch
        self.switch.send_signal(signal.SIGINT)
        self.assertEqual(self.switch.wait(PATIENCE), 0, self.programs.logs())
        self.wait_for(lambda: self.query('ALERTS{alertname="OutriderSwitchDown"}'),
                      "the alert is not even pending")


class Files(unittest.TestCase):
    def test_the_dashboard_is_one(self):
        self.assertGreaterEqual(DASHBOARD["schemaVersion"], 36, "Grafana 9")
        ids = [panel["id"] for panel in DASHBOARD["panels"]]
        self.assertEqual(len(ids), len(set(ids)))
        taken = set()
        for panel in panels(DASHBOARD):
            for key in ("title", "description", "targets"):
                self.assertTrue(panel.get(key), panel)
            self.assertEqual(panel["datasource"]["uid"], "${datasource}", panel["title"])
            grid = panel["gridPos"]
            self.assertLessEqual(grid["x"] + grid["w"], 24, panel["title"])
            for x in range(grid["x"], grid["x"] + grid["w"]):
                for y in range(grid["y"], grid["y"] + grid["h"]):
                    self.assertNotIn((x, y), taken, panel["title"] + " covers another panel")
                    taken.add((x, y))
        kinds = {v["name"]: v["type"] for v in DASHBOARD["templating"]["list"]}
        self.assertEqual(kinds["datasource"], "datasource")

    def test_promtool_accepts_both_files(self):
        for words in (["rules", CONF / "alerts.yml"], ["config", CONF / "prometheus.yml"]):
            self.promtool("check", *words)

    def test_every_alert_says_what_to_do(self):
        """A rule as the file has it: promtool does not ask for any of this."""
        rules = re.split(r"^ +- alert: ", (CONF / "alerts.yml").read_text(), flags=re.M)[1:]
        self.assertEqual({rule.split("\n", 1)[0] for rule in rules}, set(FIRES))
        for rule in rules:
            for key in ("expr:", "for:", "severity:", "summary:", "description:"):
                self.assertEqual(len(re.findall(rf"\b{key}", rule)), 1, f"{key} in {rule}")

    def test_the_table_lists_every_alert(self):
        rows = re.findall(r"^\| `(Outrider\w+)` \|", (ROOT / "docs/running.md").read_text(), re.M)
        self.assertEqual(sorted(rows), sorted(FIRES))

    def test_each_alert_fires_alone(self):
        cases = [case_of(name, series, [name]) for name, series in FIRES.items()]
        cases += [case_of(name, series, []) for name, series in QUIET.items()]
        with tempfile.TemporaryDirectory(prefix="outrider-grafana-") as directory:
            shutil.copy(CONF / "alerts.yml", directory)
            file = pathlib.Path(directory) / "cases.json"  # JSON is YAML
            file.write_text(json.dumps({"rule_files": ["alerts.yml"], "evaluation_interval": "1m",
                                        "tests": cases}))
            self.promtool("test", "rules", file)

    def promtool(self, *words):
        done = subprocess.run(["promtool", *map(str, words)], capture_output=True, text=True,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


WHO = 'job="outrider-switch",instance="a:1"'
GROWS, STANDS = "0+60x40", "7+0x40"  # a value each minute
LATE = "10000+0x29 5000000+0x10"  # it rises in the 30th minute

FIRES = {
    "OutriderSwitchDown": {f"up{{{WHO}}}": "0+0x40"},
    "OutriderPacketsUnaccounted": {f"outrider_switch_ledger_balanced{{{WHO}}}": "0+0x40"},
    "OutriderNoBuffers": {f"outrider_switch_device_rx_nombuf_packets_total{{{WHO}}}": GROWS},
    "OutriderFewBuffers": {f'outrider_pool_free_buffers{{{WHO},pool="packets"}}': "40+0x40",
                           f'outrider_pool_buffers{{{WHO},pool="packets"}}': "1000+0x40"},
    "OutriderLinkDown": {f'outrider_port_link_up{{{WHO},switch="s",port="p"}}': "0+0x40"},
    "OutriderLcoreBusy": {f'outrider_lcore_busy_ns_total{{{WHO},lcore="2"}}': "0+57000000000x40"},
    "OutriderReceiveRingFull": {f"outrider_switch_device_rx_missed_packets_total{{{WHO}}}": GROWS},
    "OutriderLcoreBehind": {
        f'outrider_switch_drops_total{{{WHO},class="ddl",reason="handover_full"}}': GROWS},
    "OutriderPollGap": {f"outrider_switch_longest_poll_gap_ns{{{WHO}}}": LATE},
    "OutriderTransmitFails": {
        f'outrider_switch_drops_total{{{WHO},class="background",reason="device_tx_error"}}': GROWS},
    "OutriderTrainingDrops": {
        f'outrider_queue_drops_total{{{WHO},class="ddl",reason="tail_packets"}}': GROWS,
        f'outrider_queue_arrived_packets_total{{{WHO},class="ddl"}}': "0+6000x40"},
    "OutriderSignalsForged": {
        f"outrider_switch_signals_bad_tag_total{{{WHO}}}": GROWS,
        f"outrider_switch_signals_unknown_key_total{{{WHO}}}": STANDS,
        f"outrider_switch_signals_replayed_total{{{WHO}}}": STANDS},
    "OutriderNoStartArmed": {
        f"outrider_switch_signals_not_accepted_total{{{WHO}}}": GROWS,
        f"outrider_switch_signals_unsigned_total{{{WHO}}}": STANDS,
        f"outrider_switch_signals_not_authorised_total{{{WHO}}}": STANDS,
        f"outrider_queue_starts_armed_total{{{WHO}}}": STANDS},
    "OutriderBudgetUsedUp": {
        f"outrider_queue_starts_refused_budget_total{{{WHO}}}": GROWS,
        f"outrider_queue_budget_exhausted_total{{{WHO}}}": STANDS},
    "OutriderAnnouncementTableFull": {
        f"outrider_queue_starts_refused_sender_total{{{WHO}}}": STANDS,
        f"outrider_queue_starts_refused_table_total{{{WHO}}}": GROWS},
    "OutriderBurstsDoNotCome": {
        f"outrider_queue_expired_total{{{WHO}}}": GROWS,
        f"outrider_queue_starts_armed_total{{{WHO}}}": "0+100x40"},
    "OutriderFlowsNotHeld": {
        f"outrider_queue_window_flows_refused_total{{{WHO}}}": STANDS,
        f"outrider_queue_window_flows_without_answers_total{{{WHO}}}": GROWS,
        f"outrider_queue_window_bursts_refused_total{{{WHO}}}": STANDS},
}
QUIET = {
    "what stands, and what a healthy switch has": {
        f"up{{{WHO}}}": "1+0x40",
        f"outrider_switch_ledger_balanced{{{WHO}}}": "1+0x40",
        f"outrider_switch_longest_poll_gap_ns{{{WHO}}}": "5000000+0x40",
        f'outrider_pool_free_buffers{{{WHO},pool="packets"}}': "60+0x40",
        f'outrider_pool_buffers{{{WHO},pool="packets"}}': "1000+0x40",
        f'outrider_port_link_up{{{WHO},switch="s",port="p"}}': "1+0x40",
        f'outrider_lcore_busy_ns_total{{{WHO},lcore="2"}}': "0+51000000000x40",
    } | {series: STANDS for fires in FIRES.values() for series, values in fires.items()
         if values in (GROWS, STANDS)},
    "drops at queues are no failure of a device or an lcore": {
        f'outrider_switch_drops_total{{{WHO},class="ddl",reason="tail_packets"}}': GROWS},
    "few drops of many": {
        f'outrider_queue_drops_total{{{WHO},class="ddl",reason="tail_packets"}}': GROWS,
        f'outrider_queue_arrived_packets_total{{{WHO},class="ddl"}}': "0+600000x40"},
    "signals that pass one switch and are armed by another": {
        f"outrider_switch_signals_not_accepted_total{{{WHO}}}": GROWS,
        f"outrider_switch_signals_unsigned_total{{{WHO}}}": STANDS,
        f"outrider_switch_signals_not_authorised_total{{{WHO}}}": STANDS,
        f"outrider_queue_starts_armed_total{{{WHO}}}": GROWS},
    "short gaps": {f"outrider_switch_longest_poll_gap_ns{{{WHO}}}": "10000+0x29 500000+0x10"},
    "few announcements without a burst": {
        f"outrider_queue_expired_total{{{WHO}}}": GROWS,
        f"outrider_queue_starts_armed_total{{{WHO}}}": "0+600x40"},
}


def case_of(name, series, firing):
    """A case for promtool: of all alerts, these alone fire at the end."""
    return {"name": name, "interval": "1m",
            "input_series": [{"series": s, "values": v} for s, v in series.items()],
            "promql_expr_test": [{
                "expr": 'count by (alertname) (ALERTS{alertstate="firing"})', "eval_time": "40m",
                "exp_samples": [{"labels": f'{{alertname="{alert}"}}', "value": 1}
                                for alert in firing]}]}


def why_not():
    """What is missing here, or None."""
    for tool in ("prometheus", "promtool"):
        if shutil.which(tool) is None:
            return f"{tool} is not installed (tools/setup --ci installs it)"
    for program in ("outrider-switch", "outrider-trafficgen"):
        if not os.access(PROGRAMS / program, os.X_OK):
            return f"{program} is not built in {PROGRAMS}"
    return None


def main():
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # atexit cleans up
    reason = why_not()
    if reason is not None:
        print(f"skipped: {reason}")
        sys.exit(SKIPPED)
    unittest.main(verbosity=2)


if __name__ == "__main__":
    main()
