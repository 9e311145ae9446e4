"""Whatever stands in a file, the terminal gets plain text, one error for each finding, and no traceback."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Toolbelt

RAW = {chr(code) for code in (*range(9), *range(11, 32), *range(127, 160))} | set(
    "\u061c\u200b\u200e\u2028\u2029\u202e\u2066\ufeff"
)
EVIL = "\x1b[31m\x9b2J\x07\x7f\u202e\u2066\u061c\u200b"
TOOL = f"too{EVIL}"
# No other name may have an invisible character (rule L3); one that ends a line it may have.
PLUGIN, CATEGORY, LOADOUT = (f"{name}\u2028\u2029x" for name in ("plu", "cat", "loa"))


@pytest.fixture
def evil(project: Path) -> Path:
    tool = {
        "name": TOOL,
        "description": f"d{EVIL}\r\nsecond é",
        "parameters": {"type": "object", "properties": {f"p{EVIL}": {"type": "string", "title": EVIL}}},
        "annotations": {"title": EVIL},
    }
    catalog = {
        "name": f"n{EVIL}",
        "description": EVIL,
        "categories": {CATEGORY: EVIL},
        "plugins": [
            {"name": PLUGIN, "category": CATEGORY, "description": EVIL, "tools": [tool, {"name": f"{TOOL}2"}]},
            {"name": f"{PLUGIN}2", "tools": [tool]},
        ],
    }
    (project / "evil.json").write_text(json.dumps(catalog))
    loadout = {
        "description": EVIL,
        "categories": [CATEGORY],
        "plugins": [f"{PLUGIN}2"],
        "disabled": [f"{PLUGIN}/too*"],
    }
    (project / "toolbelt.yaml").write_text(
        json.dumps({"catalog": "evil.json", "models": [f"m{EVIL}"], "loadouts": {LOADOUT: loadout, f"{LOADOUT}2": {}}})
    )
    lines = "".join(json.dumps({"name": f"{TOOL}{n}", "server": PLUGIN, "group": CATEGORY}) + "\n" for n in range(3))
    (project / f"li{EVIL}.jsonl").write_text(lines)
    return project


COMMANDS: dict[str, list[str]] = {
    "list": ["loadout", "list"],
    "show": ["loadout", "show", LOADOUT],
    "inspect": ["loadout", "inspect", LOADOUT],
    "inspect-full": ["loadout", "inspect", "full", "--all", "--model", f"x{EVIL}"],
    "inspect-auto": ["loadout", "inspect", "auto", "--model", f"x{EVIL}"],
    "model-fit": ["model", "fit", "--all", "-m", "gemini/gemini-2.5-flash", "-m", "gpt-4o", "-m", f"x{EVIL}"],
    "inspect-unknown": ["loadout", "inspect", f"x{EVIL}"],
    "why": ["loadout", "why", LOADOUT, PLUGIN],
    "why-tool": ["loadout", "why", LOADOUT, f"{PLUGIN}/{TOOL}2"],
    "why-ambiguous": ["loadout", "why", LOADOUT, TOOL],
    "diff": ["loadout", "diff", LOADOUT, f"{LOADOUT}2"],
    "diff-files": ["loadout", "diff", "toolbelt.yaml", "toolbelt.yaml"],
    "lint": ["loadout", "lint"],
    "export": ["loadout", "export", LOADOUT],
    "export-mcp": ["loadout", "export", LOADOUT, "--format", "mcp"],
    "create": ["loadout", "create", "new\u2028", "--extends", LOADOUT],
    "create-evil": ["loadout", "create", f"new{EVIL}", "--extends", LOADOUT],
    "create-wrong": ["loadout", "create", "new", "--extends", f"{LOADOUT}3{EVIL}"],
    "catalog-list": ["catalog", "list"],
    "catalog-show-plugin": ["catalog", "show", PLUGIN],
    "catalog-show-tool": ["catalog", "show", f"{PLUGIN}/{TOOL}"],
    "catalog-show-unknown": ["catalog", "show", f"{PLUGIN}3"],
    "catalog-stats": ["catalog", "stats"],
    "catalog-lint": ["catalog", "lint"],
    "catalog-import": ["catalog", "import", "evil.json"],
    "catalog-import-lines": ["catalog", "import", f"li{EVIL}.jsonl"],
    "catalog-import-missing": ["catalog", "import", f"x{EVIL}"],
    "config-show": ["config", "show"],
    "unknown-command": [f"x{EVIL}"],
    "unknown-flag": ["catalog", "stats", f"--x{EVIL}"],
    "surplus-argument": ["catalog", "stats", f"x{EVIL}"],
    "wrong-choice": ["loadout", "export", "full", "--format", f"x{EVIL}"],
}


@pytest.mark.parametrize("arguments", COMMANDS.values(), ids=COMMANDS)
@pytest.mark.parametrize("as_json", [False, True], ids=["text", "json"])
def test_nothing_dangerous_reaches_the_terminal_raw(
    toolbelt: Toolbelt, evil: Path, arguments: list[str], as_json: bool
) -> None:
    ran = toolbelt(*arguments, *(["--json"] if as_json else []))
    assert ran.code in (0, 2)
    assert ran.out + ran.err
    assert not RAW & set(ran.out + ran.err)
    if as_json and ran.out:
        assert json.loads(ran.out) is not None


@pytest.mark.parametrize("command", [["loadout", "lint"], ["loadout", "list"], ["catalog", "stats"]], ids=" ".join)
@pytest.mark.parametrize("as_json", [False, True], ids=["text", "json"])
def test_L3_names_with_invisible_characters_are_refused_and_shown_escaped(
    toolbelt: Toolbelt, evil: Path, command: list[str], as_json: bool
) -> None:
    files = {path: path.read_text() for path in (evil / "evil.json", evil / "toolbelt.yaml")}
    for path, text in files.items():
        path.write_text(text.replace("\\u2028\\u2029x", json.dumps(EVIL)[1:-1]))
    ran = toolbelt(*command, *(["--json"] if as_json else []))
    assert ran.code == 2
    assert not RAW & set(ran.out + ran.err)
    assert "u202e" in ran.out + ran.err


@pytest.mark.parametrize(
    "environment",
    [{"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}, {"LC_ALL": "C"}],
    ids=["ascii", "C-without-utf8", "C"],
)
def test_in_ascii_json_stays_json_and_text_stays_text(spawn: Toolbelt, evil: Path, environment: dict[str, str]) -> None:
    for arguments in (["catalog", "import", "evil.json"], ["catalog", "list", "--json"]):
        ran = spawn(*arguments, **environment)
        assert "second é" in json.dumps(ran.json, ensure_ascii=False)
    for arguments in (["loadout", "inspect", "full"], ["loadout", "list"], ["catalog", "lint"]):
        ran = spawn(*arguments, **environment)
        assert (ran.code, bool(ran.out)) == (0, True)
        assert not RAW & set(ran.out + ran.err)
        assert "PYTHONIOENCODING" not in environment or ran.out.isascii()


BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 10)
)
FILES: dict[str, bytes] = {
    "yaml-bomb": BOMB.encode(),
    "not-utf8": b"name: \xff\xfe\n",
    "duplicate-keys": b"plugins: []\nplugins: []\n",
    "empty": b"",
    "blank": b"\n\n",
    "a-nul": b"\x00",
    "no-yaml": b"a: [}\n",
    "brackets-without-end": b"[" * 100_000,
    "dashes-without-end": b"- " * 10_000,
    "a-tag": b"!!python/object/apply:os.system [true]\n",
    "an-alias-to-itself": b"a: &a [*a]\n",
    "two-documents": b"a: 1\n---\nb: 2\n",
}
READERS: dict[str, tuple[str, list[str]]] = {
    "a-catalog": ("bad.yaml", ["catalog", "stats", "-c", "bad.yaml"]),
    "a-json-catalog": ("bad.json", ["loadout", "inspect", "full", "-c", "bad.json"]),
    "an-import": ("bad.yaml", ["catalog", "import", "bad.yaml"]),
    "a-loadout-file": ("bad.loadout.yaml", ["loadout", "list"]),
    "one-side-of-a-diff": ("bad.loadout.yaml", ["loadout", "diff", "bad.loadout.yaml", "bad.loadout.yaml"]),
}


@pytest.mark.parametrize("content", FILES.values(), ids=FILES)
@pytest.mark.parametrize(("name", "arguments"), READERS.values(), ids=READERS)
def test_E9_a_bad_file_is_2_with_one_clear_error_for_each_finding(
    toolbelt: Toolbelt, project: Path, name: str, arguments: list[str], content: bytes
) -> None:
    (project / name).write_bytes(content)
    ran = toolbelt(*arguments)
    assert (ran.code, ran.out) == (2, ""), ran.err
    *findings, last = ran.err.splitlines()
    assert findings
    assert all(line.startswith(f"{name}:") and (": error: " in line or ": warning: " in line) for line in findings)
    assert ": error: " in ran.err
    assert last.startswith("Error: ")
    assert len(set(findings)) == len(findings) < 30


@pytest.mark.parametrize("arguments", [arguments for _, arguments in READERS.values()][:3], ids=list(READERS)[:3])
def test_E9_a_folder_instead_of_a_file_is_2(toolbelt: Toolbelt, project: Path, arguments: list[str]) -> None:
    (project / "bad.yaml").mkdir()
    (project / "bad.json").mkdir()
    ran = toolbelt(*arguments)
    assert (ran.code, ran.out) == (2, "")
    assert "folder" in ran.err


def test_E9_a_folder_as_the_configuration_is_2(toolbelt: Toolbelt, project: Path) -> None:
    ran = toolbelt("loadout", "list", "--config", ".")
    assert ran.code == 2
    assert "This is a folder" in ran.err


@pytest.mark.parametrize("entry", ["true", "~", "1", "{git: push}", "[git]"])
def test_L10_an_entry_that_is_no_name_is_a_finding_beside_the_others(
    toolbelt: Toolbelt, small: Path, entry: str
) -> None:
    (small / "mine.loadout.yaml").write_text(f"plugins: [{entry}, nosuch]\n")
    ran = toolbelt("loadout", "lint")
    assert ran.code == 2
    assert "[wrong-type]" in ran.out
    assert "no plugin 'nosuch'" in ran.out
    assert "no plugin ''" not in ran.out
