# SPDX-License-Identifier: Apache-2.0
"""Commands that look at recorded runs: show, metrics, compare, history last, info, download."""

import csv
import io
import json
import re

TRAIN = """
import argparse, os, sys, tenon
p = argparse.ArgumentParser()
p.add_argument("--rate", type=float, default=0.5)
p.add_argument("--epochs", type=int, default=5)
a = p.parse_args()
print("training")
print("a warning", file=sys.stderr)
for epoch in range(a.epochs):
    tenon.log("loss", 1 / (epoch + 1) * a.rate, step=epoch * 10)
    tenon.log("accuracy", 1 - 1 / (epoch + 2))
tenon.log("odd, \\"name\\"", "text, with \\"quotes\\"\\nand a line")
tenon.log("once", 7)
tenon.log("list", [1, 2.5, 3])
tenon.log("nan", float("nan"))
with open("outputs/model.bin", "wb") as f:
    f.write(bytes(range(256)))
os.makedirs("outputs/deep", exist_ok=True)
with open("outputs/deep/rate.txt", "w") as f:
    f.write(str(a.rate))
"""


def train(tenon, folder, *arguments):
    return tenon.run("submit", "-q", "main.py", *arguments, cwd=folder).ok().out.strip()


def test_show_has_everything_a_person_asks_for(tenon, project):
    folder = project(TRAIN)
    run = train(tenon, folder, "--rate", "0.25")
    tenon.run("tag", run, "best", "data=v3", cwd=folder).ok()
    tenon.run("note", run, "slow start", cwd=folder).ok()
    page = tenon.run("show", cwd=folder).ok().out
    for part in (run, "[1]", "Completed", "main.py --rate 0.25", "best, data=v3", "slow start", "local",
                 "Parameters", "rate", "Steps", "snapshot", "Metrics", "loss", "accuracy", "Outputs",
                 "outputs/model.bin", "256 B", "outputs/deep/rate.txt", "standard output", "9 B",
                 "standard error", "10 B", f"tenon rerun {run}", f"tenon logs {run}"):
        assert part in page, f"{part!r} is missing in\n{page}"
    assert page.count("│") >= 20, "two charts"
    assert "\x1b" not in page
    loss = next(line for line in page.splitlines() if line.strip().startswith("loss "))
    assert re.search(r"0\.05\s+0\.05\s+0\.25\s+5\s+█▄▂▁▁", loss), loss


def test_show_draws_the_metric_that_was_asked_for(tenon, project):
    folder = project(TRAIN)
    train(tenon, folder)
    assert "│" not in tenon.run("show", "--no-charts", cwd=folder).ok().out
    only = tenon.run("show", "1", "--metric", "loss", cwd=folder).ok().out
    assert 0 < only.count("│") <= 12
    typo = tenon.run("show", "--metric", "los", cwd=folder)
    assert typo.code == 3 and "did you mean loss?" in typo.err


def test_show_json_is_history_json_and_more(tenon, project):
    folder = project(TRAIN)
    run = train(tenon, folder)
    shown = tenon.json("show", run, "--json", cwd=folder)
    details = shown.pop("details")
    assert shown == tenon.json("history", "info", "-r", run, "-o", "json", cwd=folder)
    assert details["metrics"]["loss"] == {
        "count": 5, "last": 0.1, "last_step": 40, "min": 0.1, "max": 0.5,
        "last_time_utc": details["metrics"]["loss"]["last_time_utc"]}
    assert {o["path"]: o["size"] for o in details["outputs"]} == {
        "outputs/model.bin": 256, "outputs/deep/rate.txt": 3}
    assert details["stdout_bytes"] == 9 and details["stderr_bytes"] == 10
    assert "snapshot" in [s["name"] for s in details["steps"]]


def test_show_of_a_run_that_failed_says_why(tenon, project):
    folder = project("raise SystemExit(7)\n")
    assert tenon.run("submit", "-q", "main.py", cwd=folder).code == 7
    page = tenon.run("show", cwd=folder).ok().out
    assert "Failed" in page and re.search(r"Exit code +7\n", page)


def test_metrics_csv_has_every_point_and_survives_odd_text(tenon, project):
    folder = project(TRAIN)
    train(tenon, folder)
    rows = list(csv.reader(io.StringIO(tenon.run("metrics", "--csv", cwd=folder).ok().out, newline="")))
    assert rows[0] == ["name", "step", "time_utc", "value"]
    points = {}
    for name, step, time, value in rows[1:]:
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00", time)
        points.setdefault(name, []).append((int(step), value))
    assert points["loss"] == [(0, "0.5"), (10, "0.25"), (20, repr(0.5 / 3)), (30, "0.125"), (40, "0.1")]
    assert [step for step, _ in points["accuracy"]] == [0, 1, 2, 3, 4]
    assert points['odd, "name"'] == [(0, 'text, with "quotes"\nand a line')]
    assert points["list"][0][1] == "[1, 2.5, 3]"
    assert points["nan"][0][1] == "nan"


def test_metrics_json_and_one_name(tenon, project):
    folder = project(TRAIN)
    run = train(tenon, folder)
    everything = tenon.json("metrics", run, "--json", cwd=folder)
    assert len(everything) == 14
    assert next(p for p in everything if p["name"] == "nan")["value"] is None
    assert next(p for p in everything if p["name"] == "list")["value"] == [1, 2.5, 3]
    loss = tenon.json("metrics", run, "loss", "-o", "json", cwd=folder)
    assert [(p["step"], p["value"]) for p in loss] == [(0, 0.5), (10, 0.25), (20, 0.5 / 3), (30, 0.125),
                                                       (40, 0.1)]
    assert tenon.json("metrics", "-r", run, "loss", "-o", "json", cwd=folder) == loss


def test_metrics_table_lines_up(tenon, project):
    folder = project(TRAIN)
    train(tenon, folder)
    lines = tenon.run("metrics", "last", "loss", cwd=folder).ok().out.splitlines()
    assert lines[0].split() == ["Step", "Time", "Value"]
    assert len(lines) == 7
    assert len({line.rindex(".") for line in lines[2:]}) == 1, lines
    tsv = tenon.run("metrics", "-o", "tsv", cwd=folder).ok().out.splitlines()
    assert len(tsv) == 14 and all(len(line.split("\t")) == 4 for line in tsv)


def test_metrics_chart_and_unknown_name(tenon, project):
    folder = project(TRAIN)
    train(tenon, folder)
    assert "│" in tenon.run("metrics", "last", "loss", "--chart", cwd=folder).ok().out
    unknown = tenon.run("metrics", "last", "nothing", cwd=folder)
    assert unknown.code == 3 and "nothing" in unknown.err and unknown.out == ""


def test_metrics_of_a_run_without_any(tenon, project):
    folder = project()
    tenon.run("submit", "-q", "main.py", cwd=folder).ok()
    assert tenon.json("metrics", "--json", cwd=folder) == []
    assert tenon.run("metrics", "--csv", cwd=folder).ok().out == "name,step,time_utc,value\n"
    assert "no metric" in tenon.run("metrics", cwd=folder).ok().err


def test_compare_finds_what_changed_and_nothing_else(tenon, project):
    folder = project(TRAIN, files={"data/a.txt": "a", "data/b.txt": "b"})
    first = train(tenon, folder, "--rate", "0.5")
    (folder / "data/a.txt").write_text("changed")
    (folder / "data/b.txt").unlink()
    (folder / "data/c.txt").write_text("new")
    second = train(tenon, folder, "--rate", "0.25", "--epochs", "5")
    got = tenon.json("compare", first, second, "--json", cwd=folder)
    assert (got["first"], got["second"]) == (first, second)
    assert got["files"] == {"added": ["data/c.txt"], "removed": ["data/b.txt"], "changed": ["data/a.txt"]}
    assert got["outputs"] == {"added": [], "removed": [], "changed": ["outputs/deep/rate.txt"]}
    assert {p["name"]: (p["first"], p["second"]) for p in got["parameters"]} == {
        "rate": ("0.5", "0.25"), "epochs": (None, "5")}
    metrics = {m["name"]: m for m in got["metrics"]}
    assert metrics["loss"] == {"name": "loss", "first": 0.1, "second": 0.05, "difference": -0.05}
    assert metrics["accuracy"]["difference"] == 0
    settings = {s["name"]: s for s in got["settings"]}
    assert settings["Status"]["differs"] is False and settings["Script"]["differs"] is True
    page = tenon.run("compare", "1", "2", cwd=folder).ok().out
    for part in (first, second, "changed data/a.txt", "added   data/c.txt", "removed data/b.txt", "-0.05"):
        assert part in page, page
    assert "Target" not in page and "Target" in tenon.run("compare", "1", "2", "--all", cwd=folder).ok().out
    assert tenon.json("history", "compare", "-r", first, "-r", second, "-o", "json", cwd=folder) == got


def test_compare_of_a_run_with_itself_and_with_nothing(tenon, project):
    folder = project(TRAIN)
    run = train(tenon, folder)
    got = tenon.json("compare", run, "last", "--json", cwd=folder)
    assert not any(s["differs"] for s in got["settings"] + got["parameters"])
    assert got["files"] == got["outputs"] == {"added": [], "removed": [], "changed": []}
    assert tenon.run("compare", run, cwd=folder).code == 2
    assert tenon.run("compare", run, "99", cwd=folder).code == 3


def test_history_last_is_the_newest_and_info_any(tenon, project):
    folder = project(TRAIN)
    runs = [train(tenon, folder, "--rate", rate) for rate in ("0.5", "0.25")]
    newest = tenon.json("history", "last", "-o", "json", cwd=folder)
    assert newest["run_id"] == runs[1] and newest["run_number"] == 2 and newest["loss"] == 0.05
    assert list(newest) == sorted(newest)
    assert newest["properties"]["Parameters"] == {"rate": "0.25"}
    older = tenon.json("history", "info", "-r", runs[0], "-t", "local", "-o", "json", cwd=folder)
    assert older["run_id"] == runs[0] and older["loss"] == 0.1
    assert "outputs/model.bin" in older["attachments"].split(", ")
    text = tenon.run("history", "info", "-r", "1", cwd=folder).ok().out
    assert re.search(r"^run_id +" + runs[0] + "$", text, re.M)
    assert re.search(r"^properties\.CommitId +[0-9a-f]{40}$", text, re.M)
    assert tenon.run("history", "info", cwd=folder).code == 2
    assert tenon.run("history", "info", "-r", "99", cwd=folder).code == 3


def test_artifacts_come_with_their_exact_bytes(tenon, project):
    folder = project(TRAIN)
    run = train(tenon, folder)

    def artifact(name, option="--artifact"):
        return tenon.run("history", "info", "-r", run, option, name, cwd=folder).ok().out_bytes

    assert artifact("outputs/model.bin") == artifact("./outputs/model.bin", "-a") == bytes(range(256))
    assert artifact("driver_log", "--artifacts") == b"training\n"
    assert b"Completed" in artifact("control_log")
    assert re.fullmatch(rb"\d+\n", artifact("pid.txt"))
    missing = tenon.run("history", "info", "-r", run, "-a", "outputs/modle.bin", cwd=folder)
    assert missing.code == 3 and missing.out == "" and "outputs/model.bin" in missing.err


def test_download_writes_all_and_refuses_to_overwrite(tenon, project, tmp_path):
    folder = project(TRAIN)
    run = train(tenon, folder)
    target = tmp_path / "artifacts" / run
    written = tenon.run("history", "download", "-r", run, "-d", target, cwd=folder).ok().out.splitlines()
    assert str(target / "outputs/model.bin") in written
    assert (target / "outputs/model.bin").read_bytes() == bytes(range(256))
    assert (target / "driver_log").read_bytes() == b"training\n"
    assert sorted(str(p) for p in target.rglob("*") if p.is_file()) == sorted(written)
    (target / "driver_log").write_text("mine")
    refused = tenon.run("history", "download", "-r", run, "-d", target, cwd=folder)
    assert refused.code == 2 and "--overwrite" in refused.err
    assert (target / "driver_log").read_text() == "mine"
    one = tenon.json("history", "download", "--overwrite", "-r", run, "--artifact", "driver_log", "-d", target,
                     "-o", "json", cwd=folder)
    assert one == [str(target / "driver_log")]
    assert (target / "driver_log").read_bytes() == b"training\n"
    assert tenon.run("history", "download", "-r", run, cwd=folder).code == 2
    assert tenon.run("history", "download", "-r", run, "-d", tmp_path / "no", "--artifact", "nothing",
                     cwd=folder).code == 3
    assert not (tmp_path / "no").exists()
