"""Rule M2: approvals are stored per user, by digest, and files that others may write are refused."""

from __future__ import annotations

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from tests.wording import naming
from toolbelt.errors import StorageError, ToolbeltError
from toolbelt.mcp.configs.approvals import FILE_NAME, Approvals, refuse_unsafe_file
from toolbelt.servers import ServerSpec, Transport

SPEC = ServerSpec("git", Transport.STDIO, command="run", args=("a",), folder="/srv/app")


def test_M2_what_is_approved_stays_approved_until_it_changes(tmp_path: Path) -> None:
    approvals = Approvals(tmp_path / "state")
    assert approvals.missing([SPEC], {}) == (SPEC,)
    assert not (tmp_path / "state").exists()  # looking writes nothing
    approvals.add([SPEC], {})
    changed = replace(SPEC, args=("b",))
    assert Approvals(tmp_path / "state").missing([changed, SPEC], {}) == (changed,)


def test_M2_only_the_user_may_read_approvals(tmp_path: Path) -> None:
    Approvals(tmp_path / "state").add([SPEC], {})
    assert stat.S_IMODE((tmp_path / "state").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "state" / FILE_NAME).stat().st_mode) == 0o600


def test_M2_approvals_that_everybody_may_write_are_refused(tmp_path: Path) -> None:
    Approvals(tmp_path).add([SPEC], {})
    (tmp_path / FILE_NAME).chmod(0o666)
    with pytest.raises(ToolbeltError, match=naming("chmod o-w", FILE_NAME)):
        Approvals(tmp_path).missing([SPEC], {})


@pytest.mark.parametrize("text", ["", "[]", "{", '{"approved": []}'])
def test_M2_damaged_approvals_approve_nothing(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE_NAME).write_text(text)
    with pytest.raises(StorageError, match=naming(FILE_NAME)):
        Approvals(tmp_path).missing([SPEC], {})


def test_M2_several_writers_lose_nothing(tmp_path: Path) -> None:
    specs = [replace(SPEC, args=(str(number),)) for number in range(20)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda spec: Approvals(tmp_path).add([spec], {}), specs))
    assert Approvals(tmp_path).missing(specs, {}) == ()


posix = pytest.mark.skipif(os.name == "nt", reason="permissions of POSIX")


@posix
def test_M2_a_file_that_everybody_may_write_is_refused_with_the_remedy(tmp_path: Path) -> None:
    file = tmp_path / "mcp.json"
    file.write_text("{}")
    refuse_unsafe_file(file)
    file.chmod(0o646)
    with pytest.raises(ToolbeltError, match=naming(f"chmod o-w '{file}'")):
        refuse_unsafe_file(file)


@posix
def test_M2_a_folder_in_which_everybody_may_replace_the_file_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "f"
    folder.mkdir()
    file = folder / "mcp.json"
    file.write_text("{}")
    folder.chmod(0o777)
    with pytest.raises(ToolbeltError, match=naming(f"chmod o-w '{folder}'")):
        refuse_unsafe_file(file)
    folder.chmod(0o1777)  # as /tmp, where nobody may replace what is another's
    refuse_unsafe_file(file)


@posix
def test_M2_of_a_link_both_ends_count(tmp_path: Path) -> None:
    (tmp_path / "open").mkdir()
    (tmp_path / "closed").mkdir()
    file, link = tmp_path / "closed" / "mcp.json", tmp_path / "open" / "mcp.json"
    file.write_text("{}")
    link.symlink_to(file)
    refuse_unsafe_file(link)
    (tmp_path / "open").chmod(0o777)
    with pytest.raises(ToolbeltError, match=naming(str(tmp_path / "open"))):
        refuse_unsafe_file(link)
    (tmp_path / "open").chmod(0o700)
    file.chmod(0o666)
    with pytest.raises(ToolbeltError, match=naming(str(file))):
        refuse_unsafe_file(link)


@pytest.mark.skipif(os.name == "nt" or os.getuid() != 0, reason="only root can give a file away")
def test_M2_a_file_of_another_user_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "mcp.json"
    file.write_text("{}")
    os.chown(file, 12345, -1)
    with pytest.raises(ToolbeltError, match=naming("12345", "chown")):
        refuse_unsafe_file(file)
