"""Releases of public MCP servers, and what the gate without a model says of the changes between two of them.

    python -m tests.catalog.gate.releases FOLDER

installs the releases of `releases.json` one after the other into FOLDER (npm without install scripts, PyPI by `uv`),
starts each without a network (Linux: `unshare`), lists its tools and keeps them there as JSON; then it writes counts of
each pair of releases into `releases.json`. No text of a server is kept in the repository. Packages are split into
two parts by their name: thresholds were chosen on `tuning` alone, and `held out` is reported.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from threading import Timer
from typing import IO, Any, NamedTuple

from toolbelt.catalog import Catalog, Plugin, Tool
from toolbelt.catalog.gate.catalog_gate import GateRule, compare_catalogs
from toolbelt.catalog.gate.changes import ChangeKind
from toolbelt.catalog.tokens import EstimateCounter, count_named_tools

FILE = Path(__file__).with_name("releases.json")
JUDGED = frozenset({GateRule.DESCRIPTION_LOST, GateRule.LOOK_ALIKE, GateRule.GREW})
"""Rules that judge; the others state what calls fail now, which is so whether or not it was intended."""
EDITED = frozenset({ChangeKind.ADDED, ChangeKind.RENAMED, ChangeKind.DESCRIPTION, ChangeKind.SCHEMA})
_SECONDS = 60
_QUIET = {"MDB_MCP_TELEMETRY": "disabled", "NO_COLOR": "1"}


class Pair(NamedTuple):
    """Two releases of a server.

    Attributes:
        package: `npm:NAME` or `pypi:NAME`.
        old: Version.
        new: Version.
        changed: Tools that are added, renamed, or have another description or schema.
        alarmed: Of those, in how many a rule that judges finds a fault.
        failing: Of all tools, those by which calls fail now: gone, renamed, or with a schema that takes less.
    """

    package: str
    old: str
    new: str
    changed: int
    alarmed: int
    failing: int

    @property
    def is_held_out(self) -> bool:
        """Whether the package is of the part that is reported."""
        name = self.package.partition(":")[2].replace("/", "+")
        return bool(hashlib.sha256(name.encode()).digest()[0] % 2)


def read_pairs() -> list[Pair]:
    """The pairs whose counts are kept."""
    return [Pair(**row) for row in json.loads(FILE.read_text())["pairs"]]


def count(package: str, old: str, new: str, folder: Path) -> Pair:
    """Compare two releases."""
    before, after = (_catalog(folder / _name(package, version)) for version in (old, new))
    comparison = compare_catalogs(before, after, _tokens)
    edited = {change.tool for change in comparison.changes if change.kind in EDITED}
    alarmed = {fault.tool for fault in comparison.faults if fault.rule in JUDGED}
    failing = {fault.tool for fault in comparison.faults if fault.rule not in JUDGED}
    return Pair(package, old, new, len(edited), len(edited & alarmed), len(failing))


def _tokens(tools: Any) -> list[int]:
    return count_named_tools(tools, EstimateCounter())


def _name(package: str, version: str) -> str:
    return f"{package.replace(':', '~').replace('/', '+')}~{version}.json"


def _catalog(path: Path) -> Catalog:
    tools = {each["name"]: each for each in json.loads(path.read_text())}
    return Catalog(
        (
            Plugin(
                "server",
                tuple(
                    Tool(name, each.get("description") or "", each.get("inputSchema") or {})
                    for name, each in tools.items()
                ),
                server="server",
            ),
        )
    )


def collect(folder: Path) -> list[Pair]:
    """Install and ask what is not in the folder yet; the pairs of neighbouring releases that could be asked."""
    folder.mkdir(parents=True, exist_ok=True)
    servers: Mapping[str, Any] = json.loads(FILE.read_text())["servers"]
    pairs = []
    for package, how in servers.items():
        asked = [version for version in how["versions"] if _fetch(package, version, how, folder)]
        pairs += [count(package, old, new, folder) for old, new in pairwise(asked)]
    return pairs


def _fetch(package: str, version: str, how: Mapping[str, Any], folder: Path) -> bool:
    target, place = folder / _name(package, version), folder / "installed"
    if target.exists():
        return True
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    kind, _, name = package.partition(":")
    for more in ((),) if kind == "npm" else (("mcp<2",), ()):  # older servers do not start with newer SDKs
        try:
            command = (_install_npm if kind == "npm" else _install_pypi)(name, version, how, place, more)
            tools = _list_tools([*command, *how.get("args", ())], how.get("env", {}), place)
            target.write_text(json.dumps(list(tools)))
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            sys.stderr.write(f"{package} {version}: {error}\n")
        else:
            return True
    return False


def _install_npm(name: str, version: str, how: Mapping[str, Any], place: Path, _: tuple[str, ...]) -> list[str]:
    (place / "package.json").write_text('{"private": true}')
    flags = ("--no-audit", "--no-fund", "--ignore-scripts", "--no-save", "--silent")
    command = ("npm", "install", "--prefix", str(place), *flags, f"{name}@{version}")
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    programs = json.loads((place / "node_modules" / name / "package.json").read_text())["bin"]
    if isinstance(programs, dict):
        programs = programs.get(name.rpartition("/")[2]) or next(iter(programs.values()))
    return ["node", str(place / "node_modules" / name / programs)]


def _install_pypi(name: str, version: str, how: Mapping[str, Any], place: Path, more: tuple[str, ...]) -> list[str]:
    subprocess.run(("uv", "venv", "-q", "--clear", str(place / "venv")), check=True, capture_output=True)
    command = ("uv", "pip", "install", "-q", "-p", str(place / "venv"), f"{name}=={version}", *more)
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    return [str(place / "venv" / "bin" / how.get("command", name))]


def _list_tools(command: list[str], variables: Mapping[str, str], place: Path) -> Iterator[dict[str, Any]]:
    """What a server lists, started without a network and with nothing of the user's environment."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(place), **_QUIET, **variables}
    alone = ["unshare", "-rn", "sh", "-c", 'ip link set lo up 2>/dev/null; exec "$@"', "sh"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen(
        [*alone, *command], cwd=place, env=environment, text=True, start_new_session=True, **pipes
    )  # type: ignore[call-overload]
    timer = Timer(_SECONDS, os.killpg, (process.pid, signal.SIGKILL))
    timer.start()
    try:
        started = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "list", "version": "1"}}
        _ask(process.stdin, process.stdout, 1, "initialize", started)
        _send(process.stdin, {"method": "notifications/initialized"})
        number, cursor = 1, ""
        while number == 1 or cursor:
            number += 1
            page = _ask(process.stdin, process.stdout, number, "tools/list", {"cursor": cursor} if cursor else {})
            yield from page["tools"]
            cursor = page.get("nextCursor") or ""
    finally:
        timer.cancel()
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _send(stdin: IO[str], message: Mapping[str, Any]) -> None:
    stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    stdin.flush()


def _ask(stdin: IO[str], stdout: IO[str], number: int, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
    _send(stdin, {"id": number, "method": method, "params": params})
    for line in stdout:
        try:
            message = json.loads(line)
        except ValueError:
            continue
        if not isinstance(message, dict):
            continue
        if "method" in message and "id" in message:
            _send(stdin, {"id": message["id"], "error": {"code": -32601, "message": "not here"}})
        elif message.get("id") == number:
            if "result" not in message:
                raise ValueError(f"{method}: {message.get('error')}")
            return dict(message["result"])
    raise ValueError(f"{method}: the server ended")


def main() -> None:
    kept = json.loads(FILE.read_text())
    pairs = [pair._asdict() for pair in collect(Path(sys.argv[1]))]
    lines = ",\n".join(f"    {json.dumps(row)}" for row in pairs)
    servers = ",\n".join(f"    {json.dumps(name)}: {json.dumps(how)}" for name, how in kept["servers"].items())
    FILE.write_text(f'{{\n  "servers": {{\n{servers}\n  }},\n  "pairs": [\n{lines}\n  ]\n}}\n')


if __name__ == "__main__":
    main()
