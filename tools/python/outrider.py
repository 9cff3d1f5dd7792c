"""Reads the results of `outrider-lab run`, from their results.sqlite alone.

    from outrider import Results

    with Results("results/quick") as results:
        for arm in results.arms("communication_seconds_median"):
            print(arm["label"], arm["communication_seconds_median"])

It needs Python 3.9 and its standard library; frame() needs pandas too. Copy this file where you
need it. docs/howto-pandas.md has examples.
"""
import difflib
import pathlib
import sqlite3

__all__ = ["Results"]

TABLES_VERSION = 1  # that of the tables which this file knows


class Results:
    """The tables of one result. It only reads, and may be used in one thread."""

    def __init__(self, directory):
        """Opens the results in a directory, or a results.sqlite by its own path.

        Raises FileNotFoundError if there is none, ValueError if it is no such database."""
        path = pathlib.Path(directory)
        self.path = path / "results.sqlite" if path.is_dir() else path
        if not self.path.is_file():
            raise FileNotFoundError(f"{self.path} is not there; `outrider-lab run` writes it")
        self._database = sqlite3.connect(f"{self.path.resolve().as_uri()}?mode=ro", uri=True)
        self._database.row_factory = sqlite3.Row
        try:
            [[version]] = self._database.execute("PRAGMA user_version").fetchall()
            if version != TABLES_VERSION:
                raise sqlite3.DatabaseError(f"its tables are of version {version}, not {TABLES_VERSION}")
            self._tables = self._help("SELECT table_name, help FROM tables ORDER BY rowid")
        except sqlite3.DatabaseError as error:
            self.close()
            raise ValueError(f"{self.path} has no results of outrider-lab: {error}") from error

    def close(self):
        self._database.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def tables(self):
        """Returns the tables: what a row of each is, by its name."""
        return dict(self._tables)

    def columns(self, table):
        """Returns the columns of a table: what each is, by its name. The text is empty where the
        name says it. Raises ValueError if there is no such table."""
        _known([table], self._tables, "table")
        return self._help("SELECT column_name, help FROM columns WHERE table_name = ? "
                          "ORDER BY rowid", table)

    def rows(self, sql, *values):
        """Returns the rows of a query as dicts. Each `?` in it stands for one of the values. None
        is what never came, or is not defined. Raises sqlite3.Error if the query is refused."""
        return [dict(row) for row in self._database.execute(sql, values)]

    def frame(self, sql, *values):
        """Does the same as a pandas.DataFrame. Raises ImportError where pandas is missing."""
        try:
            import pandas
        except ImportError as error:
            raise ImportError("frame() needs pandas (Debian: apt install python3-pandas); "
                              "rows() gives the same rows without it") from error
        cursor = self._database.execute(sql, values)
        names = [name for name, *_ in cursor.description]
        return pandas.DataFrame(map(tuple, cursor), columns=names)

    def arms(self, *metrics):
        """Returns a dict for each arm at each point: its `label`, `point` and `against` (the label
        of its own baseline, empty for that of its point), the parameters that are not the same in
        all of them, and of each metric NAME its value, and with NAME_low, NAME_high and
        NAME_change the bounds of the 95 % interval and the change against the baseline, as ratio
        less 1.

        Raises ValueError if there is no such metric."""
        _known(metrics, self._help("SELECT metric, help FROM metrics"), "metric")
        arms = {row["arm"]: row for row in self.rows(
            "SELECT arm, label, point, against FROM arms ORDER BY arm")}
        parameters = {}
        for row in self.rows("SELECT name, arm, value FROM parameters ORDER BY rowid"):
            parameters.setdefault(row["name"], {})[row["arm"]] = row["value"]
        for name, values in parameters.items():
            if len({values.get(arm) for arm in arms}) > 1:
                for arm, row in arms.items():
                    row[name] = values.get(arm)
        for metric in metrics:
            for row in arms.values():
                row.update(dict.fromkeys(_figures(metric)))
            for found in self.rows(
                    "SELECT arm, value, low, high, change FROM arm_metrics JOIN arms USING (arm) "
                    "WHERE metric = ? AND (arms.against IS NULL OR arms.against = baseline)", metric):
                arms[found.pop("arm")].update(zip(_figures(metric), found.values()))
        for row in arms.values():
            del row["arm"]
        return list(arms.values())

    def _help(self, sql, *values):
        return {name: text or "" for name, text in self._database.execute(sql, values)}


def _figures(metric):
    return [metric, f"{metric}_low", f"{metric}_high", f"{metric}_change"]


def _known(names, known, kind):
    """Raises ValueError for a name that is not known, with those that are like it."""
    known = list(known)
    for name in names:
        if name not in known:
            like = difflib.get_close_matches(name, known) or known
            raise ValueError(f"there is no {kind} {name}; there is {', '.join(like)}")
