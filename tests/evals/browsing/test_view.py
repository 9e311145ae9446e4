"""`toolbelt view` (rule M8): who is let in, what is answered, and the page in a browser."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest
from playwright.sync_api import Browser

from tests.cli.conftest import Ran
from tests.evals.viewer.accessible import grave_problems
from tests.evals.viewer.browser import opened_browser
from tests.evals.viewer.legible import faint_texts

RUNS = 3


@dataclass
class Served:
    """A server of the tests."""

    url: str
    process: subprocess.Popen[str]

    @property
    def origin(self) -> str:
        return self.url.partition("/#")[0]

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": "Bearer " + self.url.partition("token=")[2]}

    def get(self, path: str, **headers: str) -> httpx2.Response:
        return httpx2.get(self.origin + path, headers=self.headers | headers, timeout=30)


@contextlib.contextmanager
def serve(*options: str | Path, **environment: str) -> Iterator[Served]:
    command = [sys.executable, "-m", "toolbelt", "view", "--no-open", "--json", *map(str, options)]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, **environment}
    )
    try:
        assert process.stdout is not None
        lines = ""
        while not lines.endswith("}\n"):
            line = process.stdout.readline()
            assert line, process.communicate(timeout=10)
            lines += line
        yield Served(json.loads(lines)["url"], process)
    finally:
        process.kill()
        process.communicate(timeout=10)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("view") / "runs.db"
    for seed in range(RUNS):
        dataset, cut = ("--dataset", "tiered"), ("--limit", "4", "--seed", "0" if seed < 2 else "1")
        assert command("eval", "run", *dataset, *cut, "-t", "full,loadout", "--store", path).code == 0
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(
            "UPDATE runs SET plan = json_set(plan, '$.code', json('{\"toolbelt\": \"9.9.9\"}')) "
            "WHERE created = (SELECT max(created) FROM runs)"
        )
    return path


@pytest.fixture(scope="module")
def served(store: Path) -> Iterator[Served]:
    with serve("--store", store) as one:
        yield one


def ids(served: Served) -> list[str]:
    return [row["run"] for row in served.get("/runs").json()["runs"]]


# Who is let in


def test_M8_the_page_needs_no_token_and_holds_nothing_of_the_store(served: Served) -> None:
    page = httpx2.get(served.origin + "/")
    assert page.status_code == 200
    assert not [name for name in (*ids(served), served.url.partition("token=")[2], "tiered") if name in page.text]
    assert "default-src 'none'" in page.headers["content-security-policy"]


@pytest.mark.parametrize("path", ["/runs", "/runs/latest", "/runs/latest/report", "/comparison", "/other"])
@pytest.mark.parametrize("token", ["", "Bearer wrong"])
def test_M8_everything_else_needs_the_token(served: Served, path: str, token: str) -> None:
    headers = {"Authorization": token} if token else {}
    assert httpx2.get(served.origin + path, headers=headers).status_code == 401


@pytest.mark.parametrize("path", ["/", "/runs"])
def test_M8_another_host_or_origin_is_refused_even_with_the_token(served: Served, path: str) -> None:
    port = served.origin.rpartition(":")[2]
    assert served.get(path, Host=f"evil.example:{port}").status_code == 421
    assert served.get(path, Origin="https://evil.example").status_code == 403
    assert served.get(path, Origin=served.origin).status_code == 200


def test_M8_the_token_is_a_new_one_each_time(served: Served, store: Path) -> None:
    with serve("--store", store) as other:
        assert other.headers != served.headers
        assert httpx2.get(other.origin + "/runs", headers=served.headers).status_code == 401


def test_nothing_can_be_changed(served: Served) -> None:
    assert httpx2.post(served.origin + "/runs", headers=served.headers).status_code == 405
    assert httpx2.delete(served.origin + "/runs/latest", headers=served.headers).status_code == 405


# What is answered


def test_runs_and_their_figures_are_those_of_the_other_commands(served: Served, store: Path) -> None:
    (newest, *_) = ids(served)
    shown = json.loads(command("eval", "show", newest, "--store", store, "--json").out)
    figures = served.get(f"/runs/{newest}").json()
    assert [arm["accuracy"] for arm in figures["arms"]] == [arm["accuracy"] for arm in shown["arms"]]
    assert [arm["prompt_tokens"] for arm in figures["arms"]] == [arm["prompt_tokens"] for arm in shown["arms"]]
    listed = json.loads(command("eval", "list", "--store", store, "--json").out)["runs"]
    assert [row["run"] for row in listed] == ids(served)


def test_two_runs_are_compared_arm_by_arm(served: Served) -> None:
    new, old = ids(served)[1:]
    page = served.get(f"/comparison?old={old}&new={new}")
    assert page.status_code == 200
    assert f"<title>{new} against {old}</title>" in page.text
    assert page.text.count("prompt tokens</bdi></th>") == 2


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/runs/missing", 404),
        ("/runs/missing/report", 404),
        ("/comparison?old=missing&new=latest", 404),
        ("/comparison?old=latest&new=latest", 422),
        ("/comparison", 404),
    ],
)
def test_what_cannot_be_shown_has_a_reason(served: Served, path: str, status: int) -> None:
    answer = served.get(path)
    assert (answer.status_code, bool(answer.json()["error"])) == (status, True)


# The command


def command(*arguments: str | Path) -> Ran:
    done = subprocess.run(
        [sys.executable, "-m", "toolbelt", *map(str, arguments)], capture_output=True, text=True, timeout=60
    )
    return Ran(done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_it_cleanly(store: Path, number: signal.Signals, code: int) -> None:
    with serve("--store", store) as one:
        one.get("/runs")
        one.process.send_signal(number)
        _, said = one.process.communicate(timeout=10)
        assert one.process.returncode == code
        assert "Traceback" not in said


def test_an_interrupt_does_not_wait_for_a_report(store: Path) -> None:
    with serve("--store", store) as one, httpx2.Client(headers=one.headers, timeout=30) as client:
        asking = threading.Thread(target=client.get, args=(one.origin + "/runs/latest/report",), daemon=True)
        asking.start()
        time.sleep(0.3)
        one.process.send_signal(signal.SIGINT)
        _, said = one.process.communicate(timeout=20)
        asking.join(timeout=10)
    assert one.process.returncode == 130
    assert [line for line in said.splitlines() if not line.startswith("toolbelt: ")] == []


def test_without_a_store_it_says_what_to_do(tmp_path: Path) -> None:
    done = command("view", "--no-open", "--store", tmp_path / "none.db")
    assert (done.code, done.out) == (2, "")
    assert "toolbelt eval run" in done.err
    assert not (tmp_path / "none.db").exists()


def test_a_port_in_use_is_an_error(served: Served, store: Path) -> None:
    done = command("view", "--no-open", "--store", store, "--port", served.origin.rpartition(":")[2])
    assert done.code == 2
    assert "Cannot listen" in done.err


def test_M8_the_token_is_in_no_argument_of_the_browser(store: Path, tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    browser = tmp_path / "browser"
    browser.write_text(
        f'#!/bin/sh\necho "$@" > {seen}.part\ncat "${{1#file://}}" > {seen}.page\nmv {seen}.part {seen}\n'
    )
    browser.chmod(0o755)
    process = subprocess.Popen(
        [sys.executable, "-m", "toolbelt", "view", "--store", str(store)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "BROWSER": f"{browser} %s", "TOOLBELT_STATE_DIR": str(tmp_path / "state")},
    )
    try:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        httpx2.get(url, timeout=30)  # answered once the browser has been started
        assert url.partition("token=")[2] not in seen.read_text()
        assert url in (tmp_path / "seen.page").read_text()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=10)
        assert not list((tmp_path / "state").iterdir())
    finally:
        process.kill()
        process.communicate(timeout=10)


# As files


@pytest.fixture(scope="module")
def bundle(store: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bundle") / "site"
    assert command("eval", "note", "latest", "Before </script> the rewrite.", "--store", store).code == 0
    done = command("view", "--bundle", folder, "--store", store, "--json")
    assert (done.code, json.loads(done.out)["problems"]) == (0, [])
    assert command("view", "--bundle", folder, "--store", store).code == 2, "it is not empty"
    return folder


def test_a_bundle_has_every_report_and_a_comparison_of_runs_over_the_same_cases(bundle: Path, store: Path) -> None:
    runs = [run["run"] for run in json.loads(command("eval", "list", "--store", store, "--json").out)["runs"]]
    assert {file.stem for file in (bundle / "reports").iterdir()} == set(runs)
    compared = [file.name for file in (bundle / "comparisons").iterdir()]
    assert compared
    index = (bundle / "index.html").read_text()
    assert all(name.removesuffix(".html") in index for name in compared)
    assert str(store.parent) not in index


# In a browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with opened_browser() as opened:
        yield opened


def test_the_page_lists_draws_compares_and_opens_reports_within_its_policy(served: Served, browser: Browser) -> None:
    said: list[str] = []
    with contextlib.closing(browser.new_page(viewport={"width": 390, "height": 844})) as page:
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto(served.url)
        ready = "html[data-ready]"
        page.wait_for_selector(ready, state="attached")
        assert page.locator("#runs tbody tr").count() == RUNS
        assert page.locator("#charts circle").count() == 2 * 2 * RUNS
        assert page.locator("#charts .version").count() == 2
        assert page.inner_text("#charts .versions").count("toolbelt 9.9.9") == 1
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        assert page.locator("#runs").evaluate("table => table.scrollWidth - table.closest('.scroll').clientWidth") <= 0
        assert grave_problems(page) == []
        assert faint_texts(page) == []
        page.locator("#runs tbody tr:nth-child(3) input[name=old]").focus()
        for key in ("Space", "Tab", "ArrowDown"):  # the second run as the new one, with keys alone
            page.keyboard.press(key)
        page.locator("#compare button").press("Enter")
        page.frame_locator("#frame").locator("h1", has_text="against").wait_for()
        page.click("#back a")
        page.wait_for_selector("#overview:not([hidden])")
        page.click("#runs tbody tr:first-child a")
        page.frame_locator("#frame").locator(ready).wait_for(state="attached")
        page.reload()
        page.frame_locator("#frame").locator(ready).wait_for(state="attached")
        page.go_back()
        page.wait_for_selector("#overview:not([hidden])")
    assert said == []


def test_a_bundle_is_read_from_its_files(bundle: Path, browser: Browser) -> None:
    said: list[str] = []
    with contextlib.closing(browser.new_page(viewport={"width": 500, "height": 844})) as page:
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto((bundle / "index.html").as_uri())
        page.wait_for_selector("html[data-ready]", state="attached")
        assert page.locator("#runs tbody tr").count() == RUNS
        assert "Before </script> the rewrite." in page.inner_text("#runs tbody tr:first-child")
        assert "%" in page.inner_text("#runs tbody tr:first-child td[data-label=accuracy]")
        assert page.locator("#charts polyline").count() > 2 * 2, "runs over other cases are not joined"
        page.click("#runs tbody tr:first-child a")
        page.wait_for_selector("html[data-ready]", state="attached")
        assert "Note on this run: Before" in page.inner_text("main")
        assert page.locator(".first-picture img").count() == 1
        assert page.evaluate("document.documentElement.scrollWidth") <= 500
    assert said == []


def test_M8_an_address_of_a_server_that_ended_says_so(served: Served, browser: Browser) -> None:
    with contextlib.closing(browser.new_page()) as page:
        page.goto(served.origin + "/#token=of-another-time")
        page.wait_for_selector("#status.bad")
        assert "toolbelt view" in page.inner_text("#status")
