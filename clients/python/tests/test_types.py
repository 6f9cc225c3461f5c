"""The package has types for all of it, and programs that use it see them."""

import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).parent.parent

PROGRAM = """\
import datetime
import pregon
client = pregon.Client('https://pregon.example')
title: str = client.reports.search('x').take(1)[0].title
day: datetime.datetime = client.reports.get('ip-1').published_at
for change in client.changes(0, type='IP'):
    if isinstance(change, pregon.Reset):
        continue
    cursor: str = change.cursor
client.reports.search(nothing=1)  # wrong
client.reports.get(5)  # wrong
number: int = client.reports.get('ip-1').title  # wrong
"""


@pytest.fixture(scope="module")
def mypy(tmp_path_factory):
    cache = tmp_path_factory.mktemp("mypy")

    def run(*arguments):
        command = ["/usr/bin/python3", "-m", "mypy", f"--cache-dir={cache}", *arguments]
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)

    return run


def test_package(mypy):
    run = mypy()
    assert run.returncode == 0, run.stdout + run.stderr


def test_program(mypy, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    run = mypy("--strict", "--follow-imports=silent", "--config-file=", str(program))
    wrong = {line.split(":")[1] for line in run.stdout.splitlines() if ": error: " in line}
    right = {str(number) for number, line in enumerate(PROGRAM.splitlines(), 1) if line.endswith("# wrong")}
    assert wrong == right, run.stdout + run.stderr
