"""What is known of models is what litellm's table says, and nothing is guessed."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolbelt.models.project_models import ProjectModel
from toolbelt.providers.litellm_table import Extract, ModelTable, write_extract
from toolbelt.providers.model_facts import find_facts


@pytest.fixture(scope="module")
def litellm_table() -> dict[str, dict[str, Any]]:
    """The table, read without our code."""
    spec = importlib.util.find_spec("litellm")
    assert spec is not None
    assert spec.origin is not None
    text = (Path(spec.origin).parent / "model_prices_and_context_window_backup.json").read_text(encoding="utf-8")
    table: dict[str, dict[str, Any]] = json.loads(text)
    del table["sample_spec"]
    return table


def find_window(table: ModelTable, model: str) -> int | None:
    return find_facts(model, table).context_window


def _table(folder: Path, text: str) -> Path:
    file = folder / "table.json"
    file.write_text(text)
    return file


def test_every_window_is_litellms(litellm_table: dict[str, dict[str, Any]], tmp_path: Path) -> None:
    for table in (ModelTable(), ModelTable(tmp_path), ModelTable(tmp_path)):  # none, a fresh and a kept extract
        found = {name: find_window(table, name) for name in litellm_table}
        entries = {name: litellm_table.get(entry.get("alias_of", ""), entry) for name, entry in litellm_table.items()}
        assert found == {name: entry.get("max_input_tokens") or None for name, entry in entries.items()}
    assert len(litellm_table) > 1000
    assert any(window is None for window in found.values())


@pytest.mark.parametrize(
    ("model", "same"),
    [("openai/gpt-4o", "gpt-4o"), ("anthropic/claude-sonnet-4-5", "claude-sonnet-4-5")],
)
def test_a_provider_may_stand_before_the_name(model: str, same: str) -> None:
    assert find_window(ModelTable(), model) == find_window(ModelTable(), same) is not None


@pytest.mark.parametrize(
    "model", ["nobody/knows-this", "", "gpt-4o-but-not-quite", "sample_spec", "mycloud/gpt-4o", "GPT-4O-X"]
)
def test_L15_an_unknown_model_has_no_window(model: str) -> None:
    assert find_window(ModelTable(), model) is None


def test_names_like_it_are_offered() -> None:
    assert "gpt-4o-mini" in ModelTable().find_similar("gpt-4o-minni")
    assert ModelTable(own=[ProjectModel("my-own-model")]).find_similar("my-own-modle") == ("my-own-model",)
    assert ModelTable(own=[ProjectModel("zz/abc"), ProjectModel("zz/abd")]).find_similar("zz/abc") == ("zz/abd",)


def test_what_a_model_is_based_on_is_traced() -> None:
    own = [
        ProjectModel("a", base="B"),
        ProjectModel("b", base="c"),
        ProjectModel("x", base="y"),
        ProjectModel("y", base="x"),
    ]
    table = ModelTable(own=own)
    assert table.trace("a") == ("a", "B", "c")
    assert table.trace("x") == ("x", "y")
    assert table.trace("gpt-4o") == ("gpt-4o",)


def test_of_two_names_that_differ_in_case_the_one_as_written_is_meant() -> None:
    table = ModelTable(own=[ProjectModel("Mine", context_window=1), ProjectModel("mine", context_window=2)])
    found = [table.find_project_model(name) for name in ("Mine", "mine", "MINE", "other")]
    assert [own and own.context_window for own in found] == [1, 2, 2, None]


@pytest.mark.parametrize(
    ("entry", "window"),
    [
        pytest.param({"max_input_tokens": 5, "max_tokens": 9}, 5, id="input-tokens-are-the-window"),
        pytest.param({"max_tokens": 9}, None, id="max-tokens-alone-is-no-ground"),
        pytest.param({"max_input_tokens": None, "max_tokens": 9}, None, id="null-is-unknown"),
        pytest.param({"max_input_tokens": 0}, None, id="zero-is-unknown"),
        pytest.param({"max_input_tokens": -1}, None, id="less-than-nothing-is-unknown"),
        pytest.param({"max_input_tokens": True}, None, id="true-is-no-number"),
        pytest.param({"max_input_tokens": "many"}, None, id="a-text-is-no-number"),
        pytest.param({}, None, id="nothing-said"),
        pytest.param([], None, id="an-entry-of-another-shape"),
        pytest.param(None, None, id="an-empty-entry"),
    ],
)
def test_an_entry(entry: object, window: int | None, tmp_path: Path) -> None:
    source = _table(tmp_path, json.dumps({"m": entry}))
    assert find_window(ModelTable(source=source), "m") == window


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "7", '"x"', "\ud800".encode("utf-8", "surrogatepass").hex()])
def test_a_broken_table_knows_nothing(text: str, tmp_path: Path) -> None:
    table = ModelTable(tmp_path / "cache", _table(tmp_path, text))
    assert find_window(table, "gpt-4o") is None
    assert table.find_similar("gpt-4o") == ()


def test_a_missing_table_knows_nothing(tmp_path: Path) -> None:
    assert find_window(ModelTable(tmp_path, tmp_path / "missing.json"), "gpt-4o") is None


def test_a_table_that_is_no_text_knows_nothing(tmp_path: Path) -> None:
    source = tmp_path / "table.json"
    source.write_bytes(b"\xff\xfe\x00")
    assert find_window(ModelTable(source=source), "gpt-4o") is None


def test_the_extract_follows_the_file(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    source = _table(tmp_path, '{"m": {"max_input_tokens": 1}}')
    assert find_window(ModelTable(cache, source), "m") == 1
    changed = source.stat().st_mtime_ns
    _table(tmp_path, '{"m": {"max_input_tokens": 2}}')
    os.utime(source, ns=(changed + 1, changed + 1))
    assert find_window(ModelTable(cache, source), "m") == 2
    other = tmp_path / "other.json"
    other.write_text('{"m": {"max_input_tokens": 3}}')
    assert find_window(ModelTable(cache, other), "m") == 3


def test_the_extract_spares_reading_the_table(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    source = _table(tmp_path, '{"m": {"max_input_tokens": 1}}')
    find_window(ModelTable(cache, source), "m")
    status = source.stat()
    source.write_text('{"m": {"max_input_tokens": 2}}')  # of the same length, and made to look untouched
    os.utime(source, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert find_window(ModelTable(cache, source), "m") == 1


@pytest.mark.parametrize("text", ["", "[]", "null", '{"of": []}', '{"of": 1, "windows": 2}', "\x00"])
def test_a_spoilt_extract_is_made_anew(text: str, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    source = _table(tmp_path, '{"m": {"max_input_tokens": 1}}')
    find_window(ModelTable(cache, source), "m")
    good = {extract: extract.read_text() for extract in cache.iterdir()}
    for extract in good:
        extract.write_text(text)
    assert find_window(ModelTable(cache, source), "m") == 1
    assert {extract: extract.read_text() for extract in cache.iterdir()} == good


def test_where_no_extract_can_be_kept_the_table_is_read(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    source = _table(tmp_path, '{"m": {"max_input_tokens": 1}}')
    assert find_window(ModelTable(tmp_path / "file" / "cache", source), "m") == 1


@pytest.mark.cold
def test_litellm_itself_is_never_imported(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from toolbelt.providers.litellm_table import ModelTable;"
        "from toolbelt.providers.model_facts import find_facts;"
        "print(find_facts('gpt-4', ModelTable(Path(sys.argv[1]))).context_window, 'litellm' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True)
    assert done.stdout == "8192 False\n"


STAMP = ["/table.json", 5, 7]
ANEW = {"m": 0, "other": 1}
names = st.text(max_size=6) | st.sampled_from(["m", "m/n", "n/m", '"m": ', "a\nm", "\ud800", "of", "values", "é\u2028"])
values = st.none() | st.integers() | st.lists(st.text(max_size=3) | st.none(), max_size=2)


def is_sound(value: object) -> bool:
    return value is None or isinstance(value, int | list)


def make_anew() -> Mapping[str, Any]:
    return ANEW


def refuse_anew() -> Mapping[str, Any]:
    raise AssertionError("nothing was spoilt")


@given(st.dictionaries(names, values, max_size=6), names)
def test_what_was_written_is_found_one_by_one_and_as_a_whole(kept: dict[str, Any], name: str) -> None:
    text = write_extract(STAMP, kept)
    assert Extract.is_of(text, STAMP) or not kept
    assert json.loads(text) == {"of": STAMP, "values": kept}
    one = Extract(text, is_sound, refuse_anew)
    assert (name in one, one.get(name)) == (name in kept, kept.get(name))
    assert {each: one[each] for each in kept} == kept
    assert dict(Extract(text, is_sound, refuse_anew)) == kept


@pytest.mark.parametrize("at", [1, 20, -1, -2, -3])
def test_what_is_cut_off_or_of_another_table_is_none(at: int) -> None:
    text = write_extract(STAMP, {"m": 1, "n": 2})
    assert Extract.is_of(text, STAMP)
    assert not Extract.is_of(text[:at], STAMP)
    assert not Extract.is_of(text, [*STAMP[:2], 8])
    assert not Extract.is_of("", STAMP)


@pytest.mark.parametrize(
    "wrong", ['"text"', "{}", "{", "", "[" * 100_000], ids=["text", "mapping", "cut", "none", "deep"]
)
def test_what_is_not_sound_is_made_anew_and_what_is_sound_stays(wrong: str) -> None:
    text = write_extract(STAMP, {"m": 5, "n": 6}).replace("5,", f"{wrong},")
    extract = Extract(text, is_sound, make_anew)
    assert extract["n"] == 6  # it was not looked at further than that
    assert extract["m"] == 0
    assert dict(extract) == ANEW
    assert "n" not in extract
    with pytest.raises(KeyError):
        extract["n"]


def test_one_value_of_thousands_is_found_without_reading_the_others() -> None:
    text = write_extract(STAMP, {str(number): [number] for number in range(5_000)})
    looked_at: list[object] = []

    def looks(value: object) -> bool:
        looked_at.append(value)
        return True

    extract = Extract(text, looks, refuse_anew)
    assert [extract["4999"], extract["4999"], extract.get("x")] == [[4999], [4999], None]
    assert looked_at == [[4999]]
    assert len(extract) == len(looked_at) - 1 == 5_000
