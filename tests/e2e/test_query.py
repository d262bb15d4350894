# SPDX-License-Identifier: Apache-2.0
"""--query: JMESPath over what a command prints as JSON."""

import pytest

TRAIN = """
import sys, tenon
accuracy = float(sys.argv[1])
if accuracy < 0:
    raise SystemExit(3)
tenon.log("Accuracy", accuracy)
tenon.log("Regularization Rate", 0.078125)
"""


@pytest.fixture
def history(tenon, project):
    """Four runs of a project, three of them with an Accuracy; the second failed."""
    folder = project(TRAIN)
    runs = [tenon.run("submit", "-q", "main.py", value, cwd=folder).out.strip()
            for value in ("0.9", "-1", "0.985", "0.97")]

    def ask(query, *options, command=("history", "list")):
        return tenon.run(*command, "--query", query, *options, cwd=folder)

    ask.runs = runs
    ask.folder = folder
    return ask


def test_documented_queries_give_their_answers(tenon, history):
    first, failed, best, last = history.runs
    completed = history("[?status=='Completed']").ok().json()
    assert [r["run_id"] for r in completed] == [last, best, first]
    assert completed == [r for r in tenon.json("history", "list", "-o", "json", cwd=history.folder)
                         if r["status"] == "Completed"], "whole runs, every member"
    assert history("@[?Accuracy != null] | max_by(@, &Accuracy).Accuracy").ok().json() == 0.985
    fast = history("@[?Accuracy >= sum(`[1, -0.03]`)] | sort_by(@, &duration)").ok().json()
    assert {r["run_id"] for r in fast} == {best, last}
    assert [r["duration"] for r in fast] == sorted(r["duration"] for r in fast)
    assert history('[?"Regularization Rate" == `0.078125`] | length(@)').ok().json() == 3
    assert history("[?status==`Failed`].run_id").ok().json() == [failed], "the old form of literals"


def test_answer_is_shown_as_az_did(history):
    first, failed, best, last = history.runs
    width = len(first)
    table = history("[?Accuracy != null].{id: run_id, accuracy: Accuracy, all: properties}", "-o", "table")
    assert table.ok().out == (f"{'Id':{width}}  Accuracy\n{'-' * width}  --------\n"
                              f"{last}  0.97\n{best}  0.985\n{first}  0.9\n")
    assert history("[].run_id", "-o", "table").ok().out.splitlines()[:3] == ["Result", "-" * width, last]
    assert history("[].run_id", "-o", "tsv").ok().out == "".join(f"{r}\n" for r in reversed(history.runs))
    assert history("[?Accuracy != null].[run_id, Accuracy]", "-o", "tsv").ok().out == (
        f"{last}\t0.97\n{best}\t0.985\n{first}\t0.9\n")
    assert history("length(@)", "-o", "tsv").ok().out == "4\n"
    assert history("[?status=='Nothing']", "-o", "table").ok().out == ""
    assert history("nothing").ok().out == "null\n"
    assert history("[0].run_number", "--json").ok().out == "4\n", "a whole number stays one"


def test_every_listing_takes_a_query(tenon, history):
    run = history.runs[0]
    assert history("Accuracy", command=("history", "info", "-r", run)).ok().json() == 0.9
    assert history("run_number", command=("history", "last")).ok().json() == 4
    assert history("details.metrics.Accuracy.count", command=("show", run)).ok().json() == 1
    assert history("[].value", command=("metrics", run)).ok().json() == [0.9, 0.078125]
    assert history("[].value", "-o", "tsv", command=("metrics", run)).ok().out == "0.9\n0.078125\n"
    assert history("status", command=("status", run)).ok().json() == "Completed"
    assert history("status", command=("experiment", "status", "--run", run)).ok().json() == "Completed"
    assert history("tenon", command=("version",)).ok().json() == tenon.json("version", "--json")["tenon"]
    assert history("runs | length(@)", command=("du",)).ok().json() == 4
    submitted = tenon.run("submit", "--query", "status", "main.py", "0.5", cwd=history.folder).ok()
    assert submitted.out.splitlines()[-1] == '"Completed"'


@pytest.mark.parametrize("query, words, column", [
    ("foo..bar", "syntax:", 4),
    ("[?status='x']", "syntax: equality is written ==", 8),
    ("abs(@)", "invalid-type: abs() takes a number here, not a value of type array", 4),
    ("[::0]", "invalid-value:", 0),
    ("abs(`1`, `2`)", "invalid-arity: abs() takes 1 argument, not 2", 0),
    ("[].run_id | maxby(@, &a)", "unknown-function: there is no function maxby()", 12),
])
def test_wrong_query_is_shown_with_a_caret(history, query, words, column):
    wrong = history(query)
    assert wrong.code == 2 and wrong.out == ""
    lines = wrong.err.splitlines()
    assert lines[0].startswith("error: --query: ") and words in lines[0]
    assert lines[1:3] == ["  " + query, "  " + " " * column + "^"]


def test_wrong_query_starts_no_script(tenon, project):
    folder = project()
    assert tenon.run("submit", "--query", "a b", "main.py", cwd=folder).code == 2
    assert tenon.json("runs", "--json", cwd=folder) == []


def test_query_without_json_says_that_it_had_nothing_to_do(tenon):
    done = tenon.run("completion", "bash", "--query", "a").ok()
    assert "complete -F" in done.out and "--query had nothing" in done.err
