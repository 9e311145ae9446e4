"""A file is replaced as a whole or not at all, whatever happens meanwhile."""

from __future__ import annotations

import errno
import os
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.wording import naming
from toolbelt.errors import StorageError, ToolbeltError
from toolbelt.stores.files import cache_folder, replacing, write_text

OLD = "old\n" * 1000
NEW = "new\n" * 1000


def _python(code: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_a_new_file_holds_the_text_as_utf8_with_plain_line_ends(tmp_path: Path) -> None:
    write_text(tmp_path / "f", "é\n漢\r\n")
    assert (tmp_path / "f").read_bytes() == "é\n漢\r\n".encode()
    assert [entry.name for entry in tmp_path.iterdir()] == ["f"]


def test_a_new_file_has_the_mode_the_user_asks_for_by_umask(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_text(tmp_path / "f", NEW)
        assert os.umask(0o027) == 0o027  # and leaves it alone
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "f").stat().st_mode) == 0o640


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o755, 0o444])
def test_the_mode_of_an_existing_file_is_kept(tmp_path: Path, mode: int) -> None:
    file = tmp_path / "f"
    file.write_text(OLD)
    file.chmod(mode)
    write_text(file, NEW)
    assert stat.S_IMODE(file.stat().st_mode) == mode
    assert file.read_text() == NEW


def test_a_link_stays_and_its_target_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    target, link = tmp_path / "folder" / "target", tmp_path / "link"
    target.write_text(OLD)
    link.symlink_to(Path("folder") / "target")
    write_text(link, NEW)
    assert link.is_symlink()
    assert target.read_text() == NEW


def test_a_dangling_link_gets_its_target(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("target")
    write_text(tmp_path / "link", NEW)
    assert (tmp_path / "target").read_text() == NEW
    assert (tmp_path / "link").is_symlink()


def test_without_overwrite_an_existing_file_is_refused_untouched(tmp_path: Path) -> None:
    (tmp_path / "f").write_text(OLD)
    with pytest.raises(ToolbeltError, match=r"exists already; use --force"):
        write_text(tmp_path / "f", NEW, overwrite=False)
    assert (tmp_path / "f").read_text() == OLD
    assert [entry.name for entry in tmp_path.iterdir()] == ["f"]


def test_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ToolbeltError, match="is a folder"):
        write_text(tmp_path, NEW)


@pytest.mark.parametrize("overwrite", [True, False])
def test_a_pipe_is_written_to_and_stays_a_pipe(tmp_path: Path, overwrite: bool) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    got: list[str] = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_text()))
    reader.start()
    write_text(pipe, NEW, overwrite=overwrite)
    reader.join(timeout=10)
    assert got == [NEW]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_dev_stdout_works_through_a_pipe() -> None:
    done = _python("from toolbelt.stores.files import write_text; write_text('/dev/stdout', 'é\\n', overwrite=False)")
    assert (done.returncode, done.stdout, done.stderr) == (0, "é\n", "")


def test_a_full_device_is_a_storage_error() -> None:
    with pytest.raises(StorageError, match="No space left on device"):
        write_text("/dev/full", NEW)
    assert StorageError.exit_code == 3


@pytest.mark.parametrize("folder", ["missing", "f"], ids=["missing-folder", "file-as-folder"])
def test_what_cannot_be_made_is_a_storage_error(tmp_path: Path, folder: str) -> None:
    (tmp_path / "f").write_text(OLD)
    with pytest.raises(StorageError, match=naming("Cannot write", "Nothing was changed")):
        write_text(tmp_path / folder / "g", NEW)
    assert [entry.name for entry in tmp_path.iterdir()] == ["f"]


def test_running_out_of_space_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_text(OLD)
    code = """
import resource, signal, sys
from toolbelt.errors import StorageError
from toolbelt.stores.files import write_text
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    write_text(sys.argv[1], "x" * 100_000)
except StorageError as error:
    print(error)
"""
    done = _python(code, file)
    assert os.strerror(errno.EFBIG) in done.stdout, done
    assert file.read_text() == OLD
    assert [entry.name for entry in tmp_path.iterdir()] == ["f"]


@pytest.mark.parametrize("moment", ["fsync", "replace"])
def test_a_kill_at_the_worst_moment_leaves_the_old_file_whole(tmp_path: Path, moment: str) -> None:
    file = tmp_path / "f"
    file.write_text(OLD)
    # Python tells what it is about to do: the process ends itself without any clean-up right before that.
    code = """
import os, pathlib, signal, sys
from toolbelt.stores.files import write_text
moment = sys.argv[2]
def hook(event, arguments):
    if event == "os.rename" and moment == "replace":
        os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(hook)
if moment == "fsync":
    os.fsync = lambda handle: os.kill(os.getpid(), signal.SIGKILL)
write_text(sys.argv[1], "new\\n" * 1000)
"""
    done = _python(code, file, moment)
    assert done.returncode == -signal.SIGKILL, done
    assert file.read_text() == OLD
    write_text(file, NEW)
    assert file.read_text() == NEW


def test_a_reader_never_sees_half_a_file_while_two_processes_write(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_text("a" * 200_000)
    code = """
import sys
from toolbelt.stores.files import write_text
for _ in range(60):
    write_text(sys.argv[1], sys.argv[2] * 200_000)
"""
    writers = [subprocess.Popen([sys.executable, "-c", code, str(file), letter]) for letter in "bc"]
    seen = set()
    while any(writer.poll() is None for writer in writers):
        text = file.read_text()
        assert len(text) == 200_000
        seen.add("".join(sorted(set(text))))
    assert [writer.returncode for writer in writers] == [0, 0]
    assert seen <= {"a", "b", "c"}
    assert [entry.name for entry in tmp_path.iterdir()] == ["f"]


def test_of_many_that_may_not_replace_exactly_one_wins(tmp_path: Path) -> None:
    file = tmp_path / "f"
    code = """
import sys, time
from toolbelt.errors import ToolbeltError
from toolbelt.stores.files import write_text
while time.time() < float(sys.argv[3]): pass
try:
    write_text(sys.argv[1], sys.argv[2], overwrite=False)
    print("won")
except ToolbeltError as error:
    print(error)
"""
    import time

    start = str(time.time() + 0.7)
    contestants = [
        subprocess.Popen([sys.executable, "-c", code, str(file), letter, start], stdout=subprocess.PIPE, text=True)
        for letter in "abcd"
    ]
    said = {letter: contestant.communicate()[0] for letter, contestant in zip("abcd", contestants, strict=True)}
    winners = [letter for letter, text in said.items() if text == "won\n"]
    assert len(winners) == 1, said
    assert file.read_text() == winners[0]
    assert sum("exists already" in text for text in said.values()) == 3
    assert [entry.name for entry in tmp_path.iterdir()] == ["f"]


def test_what_is_there_by_the_end_is_not_replaced_either(tmp_path: Path) -> None:
    def write() -> None:
        with replacing(tmp_path / "f", "wb", overwrite=False) as file:
            file.write(b"mine")
            (tmp_path / "f").write_text("somebody was quicker")

    with pytest.raises(ToolbeltError, match=r"exists already; use --force"):
        write()
    assert (tmp_path / "f").read_text() == "somebody was quicker"
    assert [entry.name for entry in tmp_path.iterdir()] == ["f"]


def test_an_interrupt_leaves_no_temporary_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(handle: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_text(tmp_path / "f", NEW)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("environment", "folder"),
    [
        pytest.param({"TOOLBELT_CACHE_DIR": "/a", "XDG_CACHE_HOME": "/b"}, "/a", id="our-own-setting-first"),
        pytest.param({"XDG_CACHE_HOME": "/b", "LOCALAPPDATA": "/c"}, "/b/toolbelt", id="then-xdg"),
        pytest.param({"LOCALAPPDATA": "/c"}, "/c/toolbelt", id="then-windows"),
        pytest.param({"TOOLBELT_CACHE_DIR": ""}, str(Path.home() / ".cache" / "toolbelt"), id="else-home"),
    ],
)
def test_cache_folder(environment: dict[str, str], folder: str) -> None:
    assert cache_folder(environment) == Path(folder)
