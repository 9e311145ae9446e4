"""What lint says of cases together, of names in queries, of roles, of tools and of the card."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.conftest import needs_shared_data
from tests.evals.cases.samples import CATALOG, case, open_public, write_dataset
from tests.wording import mentions
from toolbelt.catalog import Catalog, Plugin, Tool
from toolbelt.evals.cases.card.check import count_content
from toolbelt.evals.cases.card.editing import new_card
from toolbelt.evals.cases.dataset import open_dataset
from toolbelt.evals.cases.index import MAX_FINDINGS
from toolbelt.evals.cases.lint.lint import lint_dataset
from toolbelt.findings import Finding
from toolbelt.loadouts import ToolLoadout, ToolLoadoutRegistry

ROLES = ToolLoadoutRegistry(
    [ToolLoadout("gitter", default_plugins=frozenset({"git"})), ToolLoadout("nobody", default_plugins=frozenset())]
)
CaseFields = dict[str, Any]


def lint(folder: Path, rows: list[CaseFields], catalog: Catalog = CATALOG) -> list[Finding]:
    return list(lint_dataset(open_dataset(str(write_dataset(folder / "mine", rows, catalog))), ROLES))


def rules(findings: list[Finding]) -> list[tuple[str, int | None]]:
    return [(finding.rule, finding.line) for finding in findings]


def numbered(*rows: CaseFields) -> list[CaseFields]:
    return [{**row, "id": str(number)} for number, row in enumerate(rows)]


def opened(text: str, query: str) -> CaseFields:
    said = [{"role": "user", "content": text}, {"role": "assistant", "content": "Done."}]
    return case(query=..., messages=[*said, {"role": "user", "content": query}])


LONG = "Please send all that I have committed today to our server"
STORY = "Yesterday the build broke after the merge of the parser branch"


@pytest.mark.parametrize(
    ("rows", "found"),
    [
        pytest.param([case(query="Push it."), case(query="Show me the log.")], [], id="two-questions"),
        pytest.param([case(query="Push it."), case(query="push IT!")], [("duplicate-query", 1)], id="but-for-marks"),
        pytest.param(
            [case(query=LONG), case(query="x y z"), case(query=f"{LONG} now.")],
            [("near-duplicate-query", 1)],
            id="near",
        ),
        pytest.param([case(query=LONG), case(query=f"{LONG} in the office next door")], [], id="not-so-near"),
        pytest.param(
            [case(query="把我的提交推送到服务器上去吧"), case(query="把我的提交推送到服务器上去。")],
            [("near-duplicate-query", 1)],
            id="without-blanks",
        ),
        pytest.param(
            [case(query=LONG, cluster="c"), case(query=f"{LONG} now.", cluster="c")], [], id="paraphrases-of-a-cluster"
        ),
        pytest.param(
            [case(query="Push it.", cluster="c"), case(query="Push it.", cluster="c")],
            [("verbatim-paraphrase", 1)],
            id="verbatim-in-a-cluster",
        ),
        pytest.param(
            [case(query="Push.", cluster="c", role="gitter"), case(query="Push.", cluster="c", offered=["git_push"])],
            [("cluster-roles", 1)],
            id="verbatim-in-a-cluster-but-over-other-tools",
        ),
        pytest.param([opened(STORY, "Do it."), opened(LONG, "Do it.")], [], id="one-answer-to-two-stories"),
        pytest.param([opened(STORY, "Do it."), opened(STORY, "Show it.")], [], id="two-questions-to-one-story"),
        pytest.param(
            [opened(STORY, "Do it."), opened(f"{STORY} again", "Do it!")], [("near-duplicate-query", 1)], id="one-story"
        ),
        pytest.param(
            [
                case(query="Push.", system="You are the agent of a shop."),
                case(query="Look.", system="You are the agent of a shop."),
            ],
            [],
            id="what-every-case-is-told",
        ),
        pytest.param(
            [case(query="Push it.", cluster="c"), case(query="Send it.", cluster="c", expected=[{"tool": "git_log"}])],
            [("cluster-answers", 1)],
            id="a-cluster-with-two-answers",
        ),
        pytest.param(
            [case(query="Push it.", cluster="c"), case(query="Send it.", cluster="c", kind="single")],
            [("cluster-kinds", 1)],
            id="a-cluster-with-two-kinds",
        ),
        pytest.param(
            [case(query="Push."), case(query="Off.", draft=True), case(query="Go.", draft=True)],
            [("draft-cases", 2)],
            id="drafts",
        ),
    ],
)
def test_E7_what_lint_says_of_cases_together(tmp_path: Path, rows: list[CaseFields], found: Any) -> None:
    assert rules(lint(tmp_path, numbered(*rows))) == found


def test_one_finding_a_group_names_the_first_lines_of_the_others(tmp_path: Path) -> None:
    [finding] = lint(tmp_path, numbered(*[case(query="Push it.")] * 9))
    assert mentions(finding.message, "2, 3, 4, 5, 6 and 3 more")


NAMES = Catalog(
    (Plugin("p", tuple(Tool(name, f"Is {name}.") for name in ("git_push", "getWeather", "web-search", "grep", "a.b"))),)
)


@pytest.mark.parametrize(
    ("tool", "query", "is_told"),
    [
        pytest.param("git_push", "Do a git push.", True, id="with-blanks"),
        pytest.param("git_push", "Do a Git-Push.", True, id="with-a-hyphen"),
        pytest.param("git_push", "gitpush it", True, id="with-nothing"),
        pytest.param("git_push", "请git push一下", True, id="among-chinese"),
        pytest.param("git_push", "Push what git has.", False, id="its-words-apart"),
        pytest.param("git_push", "legit pushing", False, id="within-words"),
        pytest.param("getWeather", "get weather for Rome", True, id="a-hump"),
        pytest.param("web-search", "a WEB SEARCH please", True, id="a-hyphen-in-the-name"),
        pytest.param("a.b", "call a.b now", True, id="a-dot"),
        pytest.param("grep", "grep the sources", False, id="one-word-is-a-word"),
        pytest.param("grep", "Run `grep` there", True, id="in-backticks"),
        pytest.param("grep", "nimm „grep“ dafür", True, id="in-quotes"),
        pytest.param("grep", "with the grep tool", True, id="called-a-tool"),
        pytest.param("grep", "the tool named grep", True, id="named-a-tool"),
        pytest.param("grep", "Use grep to find it", True, id="used"),
        pytest.param("grep", "Use grep-like patterns", False, id="used-as-part-of-a-word"),
    ],
)
def test_only_a_name_that_stands_as_one_is_told(tmp_path: Path, tool: str, query: str, is_told: bool) -> None:
    found = lint(tmp_path, [case(query=query, expected=[{"tool": tool}])], NAMES)
    assert [finding.rule for finding in found] == ["name-in-query"] * is_told


def calling(name: str, arguments: Any) -> CaseFields:
    call = {"id": "1", "type": "function", "function": {"name": name, "arguments": arguments}}
    turns = [
        {"role": "user", "content": "Begin."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "content": "ok"},
    ]
    return case(query=..., messages=[*turns, {"role": "user", "content": "Go on."}])


PUSH = [{"tool": "git_push"}]
LOG = [{"tool": "git_log"}]


@pytest.mark.parametrize(
    ("row", "rule"),
    [
        pytest.param(case(role="nobody", tags=["outside-role"]), None, id="a-role-that-is-meant-to-lack-it"),
        pytest.param(case(role="gitter", tags=["outside-role"]), "role-has-tool", id="one-that-has-it"),
        pytest.param(case(tags=["outside-role"]), "role-has-tool", id="no-role-at-all"),
        pytest.param(case(role="nobody", tags=["outside-role"], accept=[[]]), None, id="abstaining-tells-nothing"),
        pytest.param(
            case(role="gitter", expected=[*PUSH, {"tool": "search"}]), "role-without-tool", id="a-role-with-one-of-two"
        ),
        pytest.param(
            case(role="gitter", expected=[{"tool": ["search", "git_push"]}]), None, id="a-role-with-one-that-will-do"
        ),
        pytest.param(calling("git_push", '{"remote": "x"}'), None, id="a-history"),
        pytest.param(calling("git_psh", "{}"), "unknown-tool-in-history", id="a-history-of-another-catalog"),
        pytest.param(calling("read", "{}"), None, id="a-history-with-a-name-of-several"),
        pytest.param(calling("git_push", '{"remote": 1}'), "impossible-call-in-history", id="a-history-that-cannot-be"),
        pytest.param(calling("git_push", "{"), "impossible-call-in-history", id="a-history-that-is-no-json"),
        pytest.param(case(results={"git_push": "ok"}), None, id="a-result"),
        pytest.param(case(results={"git_log": "x"}, allowed_extra=["git_log"]), None, id="a-result-of-an-extra"),
        pytest.param(case(results={"git_log": "x"}), "unused-result", id="a-result-nobody-asks-for"),
        pytest.param(case(results={"git_log": "x"}, expected=None), None, id="a-result-where-any-call-will-do"),
        pytest.param(case(expected=[*LOG, *PUSH], match="ordered"), None, id="steps-by-themselves"),
        pytest.param(case(expected=[*LOG, *PUSH], match="ordered", steps=1), "too-few-steps", id="too-few"),
        pytest.param(case(accept=[[*LOG, *PUSH]], steps=1), None, id="enough-for-the-first-of-two-that-would-do"),
        pytest.param(case(accept=[[*LOG, *LOG]], steps=1), "too-few-steps", id="not-enough-for-another-way"),
    ],
)
def test_E3_E5_what_lint_says_of_one_case(tmp_path: Path, row: CaseFields, rule: str | None) -> None:
    assert [finding.rule for finding in lint(tmp_path, [row])] == ([] if rule is None else [rule])


def balanced(count: int, **fields: Any) -> list[CaseFields]:
    tools = ["git_push", "git_log", "file/read", "web/read", "search"]
    return [
        case(query=f"q{n}", **{"expected": [{"tool": tools[n % 5]}], "kind": "one", **fields}) for n in range(count)
    ]


@pytest.mark.parametrize(
    ("rows", "found"),
    [
        pytest.param([*balanced(29)], [], id="few-cases-say-nothing"),
        pytest.param([*balanced(30)], ["no-negative-case"], id="nothing-to-abstain-in"),
        pytest.param([*balanced(29), case(query="Hi", expected=[], kind="one")], [], id="one-kind-is-no-imbalance"),
        pytest.param(
            [*balanced(30), *balanced(4, expected=[], kind="none")],
            ["duplicate-query"] * 4 + ["unbalanced-kinds"] * 2,
            id="a-rare-kind-and-one-that-drowns-it",
        ),
        pytest.param(
            [*balanced(30, expected=PUSH), *balanced(25, expected=[], kind="none")],
            ["duplicate-query"] * 25 + ["dominant-tool"],
            id="one-tool-over-all",
        ),
    ],
)
def test_balance(tmp_path: Path, rows: list[CaseFields], found: list[str]) -> None:
    assert [one.rule for one in lint(tmp_path, numbered(*rows)) if one.rule != "conflicting-labels"] == found


def test_twins_of_the_catalog_are_told_with_the_cases_where_they_matter(tmp_path: Path) -> None:
    words = "Opens the page at an address in the browser and waits until it has loaded"
    tools = (Tool("open", words), Tool("visit", f"{words}."), Tool("other", "Closes the page."), Tool("bare"))
    catalog = Catalog((Plugin("p", tools), Plugin("q", (Tool("go", f"{words}, please"), Tool("empty")))))
    rows = numbered(
        case(query="One.", expected=[{"tool": "open"}]),
        case(query="Two.", expected=[{"tool": ["open", "visit", "go"]}]),
        case(query="Three.", expected=[{"tool": "visit"}], offered=["visit", "other"]),
        case(query="Four.", expected=[{"tool": "other"}]),
    )
    [finding] = lint(tmp_path, rows, catalog)
    assert finding.rule == "twin-tools"
    assert mentions(finding.message, "3 tools", "p/open", "p/visit", "q/go")
    assert mentions(finding.message, "line 1")
    assert (finding.file or "").endswith("catalog.json")
    assert finding.line is not None


def test_of_very_many_findings_of_a_rule_the_rest_are_counted(tmp_path: Path) -> None:
    rows = [case(id=str(n), query=f"git_push {n} {n * n} x{n}", kind="k") for n in range(MAX_FINDINGS + 7)]
    found = [one for one in lint(tmp_path, rows) if one.rule in ("name-in-query", "further-findings")]
    assert len(found) == MAX_FINDINGS + 1
    assert mentions(found[-1].message, 7, "name-in-query")


@pytest.mark.parametrize(
    ("card", "found"),
    [
        pytest.param(None, [], id="no-card"),
        pytest.param("{card}summary: S\nlicence: MIT\nlanguages: [en]\nmade: M\n", [], id="a-good-one"),
        pytest.param("{card}", [("card-incomplete", 2)], id="one-that-has-just-been-begun"),
        pytest.param(
            "name: x\nlicence: MIT License\n",
            [("card-incomplete", 1), ("card-stale", 1), ("unknown-licence", 2)],
            id="mistakes",
        ),
        pytest.param("name: [", [("syntax", 1)], id="no-yaml"),
    ],
)
def test_the_card_is_held_against_the_cases(tmp_path: Path, card: str | None, found: Any) -> None:
    folder = write_dataset(tmp_path / "mine", [case()])
    dataset = open_dataset(str(folder))
    if card is not None:
        begun = new_card("mine", count_content(dataset))
        (folder / "card.yaml").write_text(card.replace("{card}", begun))
    assert sorted((one.rule, one.line) for one in lint_dataset(dataset, ROLES)) == found


@needs_shared_data
def test_a_public_set_is_linted_with_a_bounded_number_of_findings() -> None:
    found = list(lint_dataset(open_public("bfcl"), ROLES))
    assert sum(finding.rule == "twin-tools" for finding in found) >= 300
    assert len(found) < 3 * MAX_FINDINGS
