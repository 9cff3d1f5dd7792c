"""The scripts of docs/scale.md as they stand there, and what tests of them share."""
import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/docs"))

import commands  # pylint: disable=wrong-import-position

SKIPPED = 77  # ctest's SKIP_RETURN_CODE
LAB = pathlib.Path(os.environ.get("OUTRIDER_LAB_PROGRAM", ROOT / "build/release/bin/outrider-lab"))
EXPERIMENT = "conf/experiments/pcn-paper.toml --repeat 30"  # of the page: takes many minutes
CASES = [str(ROOT / "conf/experiments/quick.toml"), "--repeat", "8"]  # twenty-four
RESULTS_OF_PAGE = "results/pcn-paper"


def script(word):
    """@return the page's block that has this word, on other cases"""
    text = (ROOT / "docs/scale.md").read_text(encoding="utf-8")
    blocks = ["\n".join(lines) for _, _, lines in commands.blocks(text)
              if any(word in line for line in lines)]
    if [block.count(EXPERIMENT) for block in blocks] != [1]:
        raise AssertionError(f"docs/scale.md needs one block with {word}, and {EXPERIMENT} in it")
    return blocks[0].replace(EXPERIMENT, " ".join(CASES)) + "\n"


def files_of(results):
    """@return {path: bytes} of results, without the two that have the time of writing"""
    return {str(path.relative_to(results)): path.read_bytes() for path in results.rglob("*")
            if path.is_file() and path.name not in ("environment.json", "report.html")}


def expect_same_results(test, merged, run):
    ours, theirs = files_of(merged), files_of(run)
    test.assertGreater(len(theirs), 4)
    test.assertEqual(sorted(ours), sorted(theirs))
    test.assertEqual([name for name in theirs if ours[name] != theirs[name]], [])


def check_built():
    if not LAB.is_file():
        sys.exit(f"{LAB} is not there; build it, or set OUTRIDER_LAB_PROGRAM")


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)
