"""Record what the commands of a checkout do, so that two checkouts can be compared.

    python tests/safety/record.py CHECKOUT FOLDER     run `commands.txt` with CHECKOUT/.venv and write what came of it
    python tests/safety/compare.py FOLDER FOLDER      print what differs

The commands run one after the other in a new folder with the files of `inputs.yaml`. A recording has a file for each
of them: the exit code, the JSON that was printed, the data files that were written, and the rows that were added to
SQLite files. Messages for people are left out, because their wording may change; of those on standard error their kinds
are kept (note, warning, error, the rule of a finding), so that none is lost. `options.json` lists the options of every
command. What differs from run to run (times, ids of runs, paths) is replaced. In `commands.txt`, `copy A B`
copies a file, and URL stands for a model server of this script.
"""

from __future__ import annotations

import csv
import json
import os
import re
import shlex
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import click
import pyarrow.parquet
import yaml

HERE = Path(__file__).parent
_MESSAGE = re.compile(r"^(?:(note|warning|Error): .*|.+: (?:warning|error): .*\[([a-z-]+)\])$", re.MULTILINE)
"""A message on standard error: its label, or the rule of a finding."""


def write_inputs(folder: Path) -> None:
    """Write what the commands read."""
    for name, text in yaml.safe_load((HERE / "inputs.yaml").read_text(encoding="utf-8")).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


class ModelServer(BaseHTTPRequestHandler):
    """A model behind OpenAI's API: the one called `first` calls the first tool it is offered, any other is refused."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if body["model"] != "first":
            refusal = {"message": "No such model.", "type": "invalid_request_error", "code": "model_not_found"}
            self._answer(404, {"error": refusal})
            return
        message: dict[str, Any] = {"role": "assistant", "content": "That is all."}
        if body.get("tools") and body["messages"][-1]["role"] == "user":
            function = {"name": body["tools"][0]["function"]["name"], "arguments": "{}"}
            message = {"role": "assistant", "tool_calls": [{"id": "c0", "type": "function", "function": function}]}
        reason = "tool_calls" if "tool_calls" in message else "stop"
        choices = [{"index": 0, "message": message, "finish_reason": reason}]
        usage = {"prompt_tokens": 50, "completion_tokens": 5, "total_tokens": 55}
        about = {"id": "1", "object": "chat.completion", "created": 1, "model": "first"}
        self._answer(200, {**about, "choices": choices, "usage": usage})

    def _answer(self, status: int, content: dict[str, Any]) -> None:
        data = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  the name in the base class
        """Print nothing."""


_RUN = re.compile(r"\d{8}-\d{6}-[0-9a-f]{4,8}")
_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)?")
_VARYING = re.compile(r"latency|duration|elapsed|^time$|^timestamp$|^revision$")


class Normaliser:
    """Replaces what differs from run to run."""

    def __init__(self, replaced: dict[str, str]) -> None:
        self._replaced = replaced
        self._runs: dict[str, str] = {}

    def text(self, text: str) -> str:
        """A text without paths, ids of runs and times."""
        for old, new in self._replaced.items():
            text = text.replace(old, new)
        text = _RUN.sub(lambda found: self._runs.setdefault(found[0], f"<run-{len(self._runs) + 1}>"), text)
        return _TIME.sub("<time>", text)

    def value(self, value: Any, key: str = "") -> Any:
        """Any value of JSON; text that is JSON itself is read, too."""
        if isinstance(value, dict):
            if key == "code":
                return dict.fromkeys(sorted(value.keys() - {"commit", "changed"}), "<version>")
            timed = "latency" in str(value.get("measure"))  # then all figures of the comparison are of times
            keys = {name: "latency" if timed and isinstance(one, float) else str(name) for name, one in value.items()}
            return {self.text(str(name)): self.value(value[name], key) for name, key in keys.items()}
        if isinstance(value, list | tuple):
            return [self.value(one) for one in value]
        if _VARYING.search(key) and value is not None:
            return "<varies>"
        if isinstance(value, str):
            inner = _parse(value) if value[:1] in {"{", "["} else None
            return self.text(value) if inner is None else {"text of": self.value(inner, key)}
        return value


def _parse(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def read_file(path: Path) -> Any:
    """The content of a data file; of any other, only that it is there."""
    if path.suffix == ".parquet":
        table = pyarrow.parquet.read_table(path)
        return {"columns": [f"{field.name}: {field.type}" for field in table.schema], "rows": table.to_pylist()}
    if path.suffix not in {".json", ".jsonl", ".yaml", ".csv", ".xml"}:
        return "<there>"
    text = path.read_text(encoding="utf-8")
    match path.suffix:
        case ".json":
            return json.loads(text)
        case ".jsonl":
            return [json.loads(line) for line in text.splitlines()]
        case ".yaml":
            return yaml.safe_load(text)
        case ".csv":
            return list(csv.DictReader(text.splitlines()))
    return _element(ElementTree.fromstring(text))


def _element(element: ElementTree.Element) -> dict[str, Any]:
    inside = [_element(one) for one in element]
    return {"tag": element.tag, **element.attrib, "text": (element.text or "").strip(), "inside": inside}


def read_store(path: Path) -> dict[str, list[Any]]:
    """The rows of every table, their columns, and the version of the tables."""
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        connection.row_factory = sqlite3.Row
        query = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        found = {"version": [connection.execute("PRAGMA user_version").fetchone()[0]]}
        for (name,) in connection.execute(query).fetchall():
            found[name] = [dict(row) for row in connection.execute(f"SELECT * FROM {name}")]
            found[f"columns of {name}"] = [list(row)[1:] for row in connection.execute(f"PRAGMA table_info({name})")]
    return found


def read_options(checkout: Path) -> dict[str, Any]:
    """The options of every command, by the command's name."""
    command = [checkout / ".venv/bin/python", HERE / "options.py"]
    ran = subprocess.run(command, capture_output=True, check=True, cwd=checkout)
    options: dict[str, Any] = json.loads(ran.stdout)
    return options


class Recorder:
    """Runs commands one after the other in one folder."""

    def __init__(self, checkout: Path, folder: Path, url: str) -> None:
        self._program = checkout / ".venv/bin/toolbelt"
        self._folder = folder / "project"
        self._url = url
        kept = {name: value for name, value in os.environ.items() if not name.startswith("TOOLBELT_")}
        own = {"TOOLBELT_CACHE_DIR": str(folder / "cache"), "NO_COLOR": "1", "OPENAI_API_KEY": "none"}
        self._environment = {**kept, **own, "LC_ALL": "C.UTF-8"}
        self._normaliser = Normaliser({str(folder): "<folder>", str(checkout): "<checkout>", url: "<url>"})
        self._stamps: dict[Path, tuple[int, int]] = {}
        self._rows: dict[str, set[str]] = {}
        self._folder.mkdir()
        write_inputs(self._folder)
        self._changed()

    def run(self, line: str) -> dict[str, Any]:
        """What came of one command."""
        command, _, given = line.partition(" < ")
        arguments = [self._url if one == "URL" else one for one in shlex.split(command)]
        if arguments[0] == "copy":
            shutil.copy(self._folder / arguments[1], self._folder / arguments[2])
            return {"command": line}
        ran = subprocess.run(
            [self._program, *arguments],
            input=(self._folder / given).read_bytes() if given else b"",
            capture_output=True,
            cwd=self._folder,
            env=self._environment,
            timeout=900,
            check=False,
        )
        files, stores = {}, {}
        for path in dict.fromkeys(path.with_name(path.name.removesuffix("-wal")) for path in self._changed()):
            name = self._normaliser.text(str(path.relative_to(self._folder)))
            if path.suffix == ".db":
                stores[name] = self._new_rows(name, path)
            elif not path.name.endswith(("-shm", ".lock")):
                files[name] = self._normaliser.value(read_file(path))
        printed = self._normaliser.value(_parse(ran.stdout.decode()))
        messages = [match[1] or match[2] for match in _MESSAGE.finditer(ran.stderr.decode(errors="replace"))]
        data = {"json": printed, "messages": messages, "files": files, "stores": stores}
        return {"command": line, "exit": ran.returncode, **data}

    def _changed(self) -> list[Path]:
        """The files that are new or changed since the last call."""
        files = [path for path in sorted(self._folder.rglob("*")) if path.is_file()]
        stamps = {path: (path.stat().st_mtime_ns, path.stat().st_size) for path in files}
        changed = [path for path in files if self._stamps.get(path) != stamps[path]]
        self._stamps = stamps
        return changed

    def _new_rows(self, name: str, path: Path) -> dict[str, Any]:
        """By table, the rows that were not in the file before, and how many are gone."""
        told = {}
        for table, rows in read_store(path).items():
            now = {json.dumps(self._normaliser.value(row), sort_keys=True) for row in rows}
            before = self._rows.get(f"{name} {table}", set())
            self._rows[f"{name} {table}"] = now
            if now != before:
                told[table] = {"new": [json.loads(row) for row in sorted(now - before)], "gone": len(before - now)}
        return told


def main(checkout: Path, out: Path) -> int:
    """Record everything; 1 if `commands.txt` leaves out a command."""
    options = read_options(checkout)
    out.mkdir(parents=True)
    (out / "options.json").write_text(json.dumps(options, indent=1) + "\n", encoding="utf-8")
    server = ThreadingHTTPServer(("127.0.0.1", 0), ModelServer)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    lines = (HERE / "commands.txt").read_text(encoding="utf-8").splitlines()
    with tempfile.TemporaryDirectory() as temporary:
        recorder = Recorder(checkout, Path(temporary).resolve(), f"http://127.0.0.1:{server.server_port}/v1")
        for number, line in enumerate(lines):
            text = json.dumps(recorder.run(line), indent=1, sort_keys=True)
            (out / f"{number:03}.json").write_text(text + "\n", encoding="utf-8")
    names = [name.removeprefix("toolbelt ") for name, about in options.items() if "commands" not in about]
    missing = [name for name in names if not any(f"{line} ".startswith(f"{name} ") for line in lines)]
    click.echo(f"{len(lines)} commands; commands that are left out: {', '.join(missing) or 'none'}")
    return bool(missing)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve(), Path(sys.argv[2])))
