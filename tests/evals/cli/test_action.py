"""`action.yml`: what it asks GitHub for is there, and its scripts do what docs/ci.md says, run here step by step."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.conftest import Toolbelt
from tests.evals.cli.test_eval_run import CATALOG
from tests.servers.running import OpenAIServer
from tests.warm.relay import relayed
from toolbelt.evals import run_eval
from toolbelt.evals.analysis.evidence.baseline_reader import read_baseline

ROOT = Path(__file__).resolve().parents[3]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
STEPS: list[dict[str, Any]] = ACTION["runs"]["steps"]
COMMENT, VERDICT = STEPS[-2:]
SCRIPTS = [step for step in STEPS if "run" in step]
TEXT = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
CASES = [
    {"id": f"parcel-{number}", "query": f"Where is parcel {number} now?", "expected": [{"tool": "track_parcel"}]}
    for number in range(30)
]
RIGHT, WRONG = "track_parcel", "send_letter"
NAMES = re.compile(r"\b(inputs|steps|github)((?:\.[\w-]+)+)")
PULL_REQUEST = {
    "event_name": "pull_request",
    "ref_name": "7/merge",
    "event": {
        "repository": {"default_branch": "main"},
        "pull_request": {"number": 7, "head": {"repo": {"full_name": "us/ours"}}},
    },
}
PUSH = {"event_name": "push", "ref_name": "main", "event": {"repository": {"default_branch": "main"}}}
GH = """\
#!{python}
import json, os, shutil, sys
from pathlib import Path
home = Path(os.environ["HOME"])
arguments = sys.argv[1:]
with (home / "gh.jsonl").open("a") as log:
    log.write(json.dumps(arguments) + "\\n")
if not os.environ.get("GH_TOKEN"):
    sys.exit("no token")
answers = json.loads((home / "gh.json").read_text())
if arguments[:2] == ["run", "list"]:
    print("\\n".join(answers["runs"]))
elif arguments[:2] == ["run", "download"]:
    if arguments[2] not in answers["artifacts"]:
        sys.exit("no artifact")
    shutil.copytree(answers["artifacts"][arguments[2]], arguments[arguments.index("--dir") + 1], dirs_exist_ok=True)
elif "--paginate" in arguments:
    print("\\n".join(answers["comments"]))
elif answers["forbidden"]:
    sys.exit("403")
"""


@dataclass
class Job:
    """A job that uses the action, on this machine: its scripts are run as GitHub's runner does, actions are named.

    Attributes:
        home: What lasts, with what the stand-in for `gh` answers and was asked.
        inputs: Given, the others have their defaults.
        github: The context.
    """

    home: Path
    inputs: dict[str, str]
    github: dict[str, Any]
    steps: dict[str, dict[str, Any]] = field(default_factory=dict)
    used: list[str] = field(default_factory=list)
    output: str = ""

    def run(self) -> int:
        """The exit code of the job; what its scripts printed is in `output`."""
        shutil.rmtree(self.home / "temp", ignore_errors=True)
        (self.home / "temp").mkdir()
        code = 0
        with relayed(self.home):
            for step in STEPS:
                condition = str(step.get("if", "True"))
                if (code == 0 or "always()" in condition) and self.holds(condition):
                    code = max(code, self.do(step))
        return code

    def do(self, step: dict[str, Any]) -> int:
        """The exit code of a step."""
        if "uses" in step:
            self.used.append(step["name"])
            return 0
        if step["name"] == "Install toolbelt":  # takes minutes; toolbelt is here
            return 0
        files = {name: self.home / "temp" / name for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "script.sh")}
        files["script.sh"].write_text(step["run"])
        files["GITHUB_OUTPUT"].write_text("")
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", files["script.sh"]],
            cwd=self._filled(step.get("working-directory", ".")),
            env={
                "PATH": os.pathsep.join((str(self.home), str(Path(sys.executable).parent), os.environ["PATH"])),
                "HOME": str(self.home),
                "RUNNER_TEMP": str(self.home / "temp"),
                "GITHUB_REPOSITORY": "us/ours",
                "GITHUB_ACTION_PATH": str(ROOT),
                **{name: str(file) for name, file in files.items() if name.isupper()},
                **{name: self._filled(value) for name, value in step.get("env", {}).items()},
            },
            capture_output=True,
            text=True,
            timeout=60,
        )
        self.output += done.stdout + done.stderr
        outputs = dict(line.partition("=")[::2] for line in files["GITHUB_OUTPUT"].read_text().splitlines())
        self.steps[step.get("id", step["name"])] = {"outputs": outputs}
        return done.returncode

    def _filled(self, text: str) -> str:
        return re.sub(r"\$\{\{ (.*?) \}\}", lambda match: str(self.value(match[1])), text)

    def holds(self, condition: str) -> bool:
        """Whether the condition of a step does, all before it having passed."""
        spelled = condition.replace("&&", "and").replace("||", "or").replace("always()", "True")
        return bool(eval(NAMES.sub(lambda match: repr(self.value(match[0])), spelled)))

    def value(self, name: str) -> str:
        """What `${{ name }}` stands for."""
        defaults = {key: value.get("default", "") for key, value in ACTION["inputs"].items()}
        here: Any = {"inputs": {**defaults, **self.inputs}, "steps": self.steps, "github": self.github}
        for part in name.split("."):
            here = here.get(part, "") if isinstance(here, dict) else ""
        return str(here)


class World:
    """A repository with a dataset and a model that answers as configured, and what GitHub has of it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = folder / "home"
        self.home.mkdir()
        (self.home / "gh").write_text(GH.format(python=sys.executable))
        (self.home / "gh").chmod(0o755)
        self.github: dict[str, Any] = {"runs": [], "artifacts": {}, "comments": [], "forbidden": False}
        (folder / "office").mkdir()
        (folder / "office" / "catalog.json").write_text(json.dumps(CATALOG))
        (folder / "office" / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in CASES))

    def job(self, event: dict[str, Any], answer: str = RIGHT, **inputs: str) -> Job:
        replies = [{"when": "*", "replies": [{"calls": [{"tool": answer}]}, {"text": "Done."}]}]
        (self.folder / "model.json").write_text(json.dumps(replies))
        (self.home / "gh.json").write_text(json.dumps(self.github))
        given = {"dataset": "office", "toolsets": "full", "models": "scripted/model.json", "margin": "0.2"}
        spelled = {key.replace("_", "-"): value for key, value in inputs.items()}
        workflow = {"repository": "us/ours", "token": "secret", "workflow_ref": "us/ours/.github/workflows/tools.yml@x"}
        return Job(self.home, {**given, "working-directory": str(self.folder), **spelled}, {**workflow, **event})

    def gated(self, event: dict[str, Any], **inputs: str) -> Job:
        """A job whose run has passed the gate."""
        job = self.job(event, **inputs)
        (self.home / "temp").mkdir()
        (self.home / "temp" / "gate.md").write_text("Passed.\n")
        job.steps["check"] = {"outputs": {"report": str(self.home / "temp")}}
        job.steps["gate"] = {"outputs": {"verdict": "no_regression", "code": "0"}}
        return job

    def asked(self) -> list[list[str]]:
        """What `gh` was asked to change."""
        log = self.home / "gh.jsonl"
        calls = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
        return [call for call in calls if "--method" in call]


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A baseline, of right answers, as a push to the default branch saves it."""
    job = World(tmp_path_factory.mktemp("saving")).job(PUSH, baseline_from="artifact")
    assert job.run() == 0, job.output
    assert (job.value("steps.save.outputs.verdict"), job.value("steps.gate.outputs.verdict")) == ("saved", "")
    assert "Keep the baseline" in job.used
    return Path(job.value("steps.check.outputs.report")) / "baseline" / "baseline.json"


@pytest.fixture
def world(tmp_path: Path, saved: Path) -> World:
    """With a committed baseline."""
    world = World(tmp_path)
    (tmp_path / "reports").mkdir()
    shutil.copy(saved, tmp_path / "reports")
    return world


pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")


@pytest.mark.parametrize(
    ("answer", "code", "verdict"), [(RIGHT, 0, "no_regression"), (WRONG, 1, "regression")], ids=["right", "wrong"]
)
def test_a_pull_request_is_gated_commented_on_and_reported(world: World, answer: str, code: int, verdict: str) -> None:
    job = world.job(PULL_REQUEST, answer, gate_arguments="--max-token-increase 0.1\n--min-sample-size 2")
    assert job.run() == code, job.output
    assert job.value("steps.gate.outputs.verdict") == verdict
    report = Path(job.value("steps.check.outputs.report"))
    gate = json.loads((report / "gate.json").read_text())
    assert (gate["verdict"], gate["run"]) == (verdict, job.value("steps.run.outputs.run"))
    assert (gate["limits"]["margin"], gate["limits"]["max_token_increase"]) == (0.2, 0.1)
    markdown = (report / "gate.md").read_text()
    assert (world.home / "temp" / "GITHUB_STEP_SUMMARY").read_text().strip() == markdown.strip()
    (comment,) = world.asked()
    assert comment[2:5] == ["--method", "POST", "repos/us/ours/issues/7/comments"]
    assert (report / "comment.md").read_text() == f"<!-- toolbelt eval gate: tool-selection -->\n{markdown}"
    assert {"Set up Python", "Cache what is downloaded", "Keep the report"} <= {*job.used}
    (page,) = (report / "page").glob("*/report.html")
    assert gate["run"] in page.read_text(encoding="utf-8")
    assert "Keep the baseline" not in job.used
    assert ("::error::regression" in job.output) is (code == 1)


def test_the_comment_of_an_earlier_run_is_rewritten(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.github["comments"] = ["41", "42"]
    job = world.gated(PULL_REQUEST, name="tools.v2")
    assert job.do(COMMENT) == 0
    (comment,) = world.asked()
    assert comment[2:5] == ["--method", "PATCH", "repos/us/ours/issues/comments/41"]
    listed = next(json.loads(line) for line in (world.home / "gh.jsonl").read_text().splitlines() if "--jq" in line)
    assert "<!-- toolbelt eval gate: tools.v2 -->" in listed[-1]


def test_a_comment_that_is_not_allowed_is_a_warning(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.github["forbidden"] = True
    job = world.gated(PULL_REQUEST)
    assert job.do(COMMENT) == 0
    assert "::warning::" in job.output


@pytest.mark.parametrize(
    ("event", "inputs", "is_written"),
    [
        pytest.param(PULL_REQUEST, {}, True, id="of-this-repository"),
        pytest.param(PULL_REQUEST, {"comment": "false"}, False, id="not-wanted"),
        pytest.param(PUSH, {}, False, id="a-push"),
        pytest.param(
            {**PULL_REQUEST, "event": {"pull_request": {"number": 7, "head": {"repo": {"full_name": "them/ours"}}}}},
            {},
            False,
            id="from-a-fork",
        ),
    ],
)
def test_a_comment_is_written_where_it_may_be_and_is_wanted(
    tmp_path: Path, event: dict[str, Any], inputs: dict[str, str], is_written: bool
) -> None:
    job = World(tmp_path).gated(event, **inputs)
    assert job.holds(COMMENT["if"]) is is_written
    assert job.holds(VERDICT["if"])


def test_a_baseline_as_an_artifact_is_fetched_by_pull_requests(world: World, saved: Path) -> None:
    assert read_baseline(saved).about.cases == len(CASES)
    missing = world.job(PULL_REQUEST, baseline_from="artifact")
    assert missing.run() == 3, "not to know is no pass"
    assert "::error::There is no baseline yet" in missing.output
    assert "run" not in missing.steps, "nothing is asked in vain"
    world.github |= {"runs": ["9", "8"], "artifacts": {"8": str(saved.parent)}}
    job = world.job(PULL_REQUEST, WRONG, baseline_from="artifact")
    assert job.run() == 1, job.output
    asked = [json.loads(line) for line in (world.home / "gh.jsonl").read_text().splitlines()]
    listed = next(call for call in asked if call[:2] == ["run", "list"])
    options = dict(zip(listed[2::2], listed[3::2], strict=True))
    assert (options["--workflow"], options["--branch"], options["--event"]) == ("tools.yml", "main", "push")


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        pytest.param({"name": "a b"}, "::error::The input name", id="a-name-with-a-blank"),
        pytest.param({"baseline": "nowhere.json"}, "::error::There is no baseline nowhere.json", id="no-such-baseline"),
        pytest.param({"baseline_from": "cloud"}, "::error::The input baseline-from", id="no-such-source"),
        pytest.param({"dataset": "offcie"}, "offcie", id="no-such-dataset"),
    ],
)
def test_wrong_inputs_end_the_job_with_what_is_wrong(world: World, inputs: dict[str, str], message: str) -> None:
    job = world.job(PULL_REQUEST, **inputs)
    assert job.run() == 2
    assert message in job.output
    assert bool(world.asked()) is ("dataset" in inputs), "what ends a job before the cases are read is no news of them"


def test_a_tool_that_a_pull_request_removed_is_named_in_its_comment(world: World) -> None:
    catalog = json.loads((world.folder / "office" / "catalog.json").read_text())
    catalog["plugins"][1]["tools"] = [each for each in catalog["plugins"][1]["tools"] if each["name"] != RIGHT]
    (world.folder / "office" / "catalog.json").write_text(json.dumps(catalog))
    job = world.job(PULL_REQUEST)
    assert job.run() == 2
    (comment,) = world.asked()
    assert comment[2:5] == ["--method", "POST", "repos/us/ours/issues/7/comments"]
    text = (Path(job.value("steps.check.outputs.report")) / "comment.md").read_text()
    assert "tool-selection: the cases cannot be asked" in text
    assert f"No tool named '{RIGHT}'" in text
    assert "Keep the report" in job.used


def test_no_input_is_read_as_code(world: World) -> None:
    assert not any("${{" in step["run"] for step in SCRIPTS)
    harm = f"$(touch {world.home}/harm); touch {world.home}/harm #`touch {world.home}/harm`"
    at_once = ({"name": harm}, {"baseline": harm}, {"baseline_from": harm})
    for inputs in (*at_once, {"models": harm, "run_arguments": harm}, {"margin": harm, "gate_arguments": harm}):
        assert world.job(PULL_REQUEST, **inputs).run() == 2
    assert not (world.home / "harm").exists()


def test_toolbelt_is_installed_from_the_actions_own_commit_with_its_pins() -> None:
    (install,) = (step["run"] for step in SCRIPTS if step["name"] == "Install toolbelt")
    assert re.search(r'-c "\$GITHUB_ACTION_PATH/constraints.txt" "\$GITHUB_ACTION_PATH"$', install, re.MULTILINE)
    assert (ROOT / "constraints.txt").is_file()


def test_the_documentation_names_every_input_and_no_other() -> None:
    section = TEXT.partition("## The action")[2].partition("\n## ")[0]
    assert set(re.findall(r"^\| `([\w-]+)` \|", section, re.MULTILINE)) == set(ACTION["inputs"])
    used = [yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", section, re.DOTALL)]
    steps = [step for workflow in used for job in workflow["jobs"].values() for step in job["steps"]]
    given = [step["with"] for step in steps if "toolbelt" in step["uses"]]
    assert given
    assert all(set(inputs) <= set(ACTION["inputs"]) for inputs in given)


def _commit(folder: Path, message: str) -> None:
    identity = ("-c", "user.name=us", "-c", "user.email=us@example.org")
    for words in (("add", "."), (*identity, "commit", "-qm", message)):
        subprocess.run(["git", "-C", folder, *words], check=True, capture_output=True, timeout=60)


def test_X3_the_recorded_responses_of_the_base_branch_answer_without_a_key(
    world: World, toolbelt: Toolbelt, openai_server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(world.folder)
    model = "hosted_vllm/pick-first@action"
    run = run_eval("office", model, "full", api_base=openai_server.url, response_cache="c.db")
    for words in (
        ("baseline", "save", run.id, "-o", "hosted.json"),
        ("responses", "export", "c.db", "-o", "recorded.jsonl"),
    ):
        assert toolbelt("eval", *words).code == 0
    git = ["git", "-C", str(world.folder)]
    subprocess.run([*git, "init", "-q", "-b", "main"], check=True, timeout=60)
    subprocess.run([*git, "remote", "add", "origin", str(world.folder)], check=True, timeout=60)
    (world.folder / ".gitignore").write_text("home\n*.db*\n.toolbelt\n")
    _commit(world.folder, "base")
    subprocess.run([*git, "checkout", "-qb", "change"], check=True, timeout=60)
    file = world.folder / "recorded.jsonl"
    file.write_text(
        file.read_text().replace("echo", "other").replace("Parcel", "Letter").replace("parcel", "letter")
    )  # what a pull request writes is not what is used
    _commit(world.folder, "change")
    before = openai_server.count("pick-first@action")
    inputs = {"models": model, "responses": "recorded.jsonl", "baseline": "hosted.json"}
    job = world.job({**PULL_REQUEST, "base_ref": "main"}, run_arguments=f"--api-base {openai_server.url}", **inputs)
    assert job.run() == 0, job.output
    report = Path(job.value("steps.check.outputs.report"))
    gate = json.loads((report / "gate.json").read_text())["responses"]
    assert (gate["same"], gate["changed"], gate["asked"]) == (len(CASES), 0, 0)
    assert openai_server.count("pick-first@action") == before
    live = world.job(
        {**PULL_REQUEST, "base_ref": "main"}, run_arguments=f"--api-base {openai_server.url}", offline="false", **inputs
    )
    assert live.run() == 0, live.output
    assert "Keep the responses" in live.used
    recorded = Path(live.value("steps.check.outputs.report")) / "recorded" / "responses.jsonl"
    assert recorded.read_bytes() == (report / "responses.jsonl").read_bytes()


@pytest.mark.parametrize(
    ("inputs", "code"),
    [({}, 1), ({"catalog_gate_arguments": "--allow description-lost"}, 0), ({"catalog_gate": "false"}, 0)],
    ids=["worse", "allowed", "off"],
)
def test_tools_that_became_worse_fail_although_the_cases_pass(world: World, inputs: dict[str, str], code: int) -> None:
    git = ["git", "-C", str(world.folder)]
    subprocess.run([*git, "init", "-q", "-b", "main"], check=True, timeout=60)
    subprocess.run([*git, "remote", "add", "origin", str(world.folder)], check=True, timeout=60)
    (world.folder / ".gitignore").write_text("home\n*.db*\n.toolbelt\n")
    _commit(world.folder, "base")
    subprocess.run([*git, "checkout", "-qb", "change"], check=True, timeout=60)
    file = world.folder / "office" / "catalog.json"
    data = json.loads(file.read_text())
    for plugin in data["plugins"]:
        for tool in plugin["tools"]:
            tool["description"] = "Does it."
    file.write_text(json.dumps(data))
    job = world.job({**PULL_REQUEST, "base_ref": "main"}, **inputs)
    assert job.run() == code, job.output
    assert job.value("steps.gate.outputs.verdict") == "no_regression"
    report = Path(job.value("steps.check.outputs.report"))
    assert (report / "catalog.md").exists() is ("catalog_gate" not in inputs)
    assert ("lost its words" in (report / "comment.md").read_text()) is ("catalog_gate" not in inputs)


def test_a_base_branch_without_a_catalog_is_a_warning(world: World) -> None:
    job = world.job({**PULL_REQUEST, "base_ref": "main"})
    assert job.run() == 0, job.output
    assert "::warning::The tools were not compared" in job.output


@pytest.mark.skipif(shutil.which("shellcheck") is None, reason="there is no shellcheck")
@pytest.mark.parametrize("step", SCRIPTS, ids=lambda step: str(step["name"]))
def test_shellcheck_finds_nothing(step: dict[str, Any]) -> None:
    done = subprocess.run(
        ["shellcheck", "-s", "bash", "-S", "warning", "-"], input=step["run"], capture_output=True, text=True
    )
    assert done.stdout == ""
