from __future__ import annotations

from typing import Any

import pytest

from tests.evals.cases.samples import public
from toolbelt.evals.cases.own_keys import IMPORTED_KEYS, OWN_KEYS, has_foreign_key, stray_keys
from toolbelt.evals.cases.reader import CASE_KEYS


def test_E3_what_only_ones_own_layout_has() -> None:
    assert {"accept", "draft", "forbidden", "allowed_extra", "match", "results", "steps"} == OWN_KEYS & set(CASE_KEYS)
    assert {"args", "args_any", "optional", "args_exact"} == OWN_KEYS - set(CASE_KEYS)


@pytest.mark.parametrize("key", sorted(OWN_KEYS))
def test_E3_a_key_of_ones_own_layout_is_stray(key: str) -> None:
    assert list(stray_keys(public(**{key: 1}))) == [(key, key)]
    assert not has_foreign_key(public(**{key: 1}))


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        pytest.param("forbiden", "forbidden", id="a-letter-less"),
        pytest.param("frobidden", "forbidden", id="letters-swapped"),
        pytest.param("macth", "match", id="of-a-short-one"),
        pytest.param("resutls", "results", id="and-again"),
        pytest.param("acccept", "accept", id="a-letter-more"),
        pytest.param("allowedExtra", "allowed_extra", id="in-another-spelling"),
        pytest.param("args-any", "args_any", id="of-a-call"),
        pytest.param("Match", "match", id="in-capitals"),
        pytest.param("ofered", "offered", id="of-a-shared-key"),
    ],
)
def test_E3_a_slip_of_a_key_is_stray(key: str, meant: str) -> None:
    assert list(stray_keys(public(**{key: 1}))) == [(key, meant)]
    assert not has_foreign_key(public(**{key: 1}))


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"steps": "1. Look it up."}, id="steps-told-in-words"),
        pytest.param(
            dict.fromkeys(
                ("subset", "split", "group", "nested", "answers", "file_name", "removed_gold", "conflicting_labels")
            ),
            id="fields-of-public-sets",
        ),
        pytest.param(dict.fromkeys(("labels_not_in_catalog", "labels_ambiguous_server")), id="about-labels"),
        pytest.param(dict.fromkeys(IMPORTED_KEYS), id="imported-keys"),
        pytest.param(
            dict.fromkeys(("difficulty", "cluster_id", "category", "language", "notes", "uid")), id="of-other-sources"
        ),
    ],
)
def test_E3_fields_of_a_source_are_left_alone(fields: dict[str, Any]) -> None:
    assert list(stray_keys(public(**fields))) == []


def test_E3_a_key_of_the_source_is_foreign() -> None:
    assert has_foreign_key({"id": "a", "subset": "x"})
    assert not has_foreign_key(public(note="x", tags=[], role="r", cluster="c", offered=[], system="s"))
