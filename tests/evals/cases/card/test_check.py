from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tests.evals.cases.samples import CATALOG, case, write_dataset, write_lines
from tests.wording import each_mentions
from toolbelt.catalog import Catalog, Plugin
from toolbelt.evals.cases.card.check import catalog_digest, count_content, differences
from toolbelt.evals.cases.dataset import open_dataset


def test_what_is_there_is_counted(tmp_path: Path) -> None:
    rows = [
        case(id="a", kind="single"),
        case(id="b", kind="single", cluster="a", query="Push."),
        case(id="c", expected=[], query="Hi."),
    ]
    dataset = open_dataset(str(write_dataset(tmp_path / "mine", rows)))
    content = count_content(dataset)
    assert (content.cases, content.clusters, content.answered_tools) == (3, 2, 1)
    assert content.kinds == {"": 1, "single": 2}
    assert (content.digest, content.catalog_digest) == (dataset.digest, catalog_digest(dataset.catalog_file.catalog))
    assert count_content(dataset, own_catalog=False).catalog_digest is None
    assert differences(content, content) == ()


def test_a_borrowed_catalog_is_not_the_datasets(tmp_path: Path) -> None:
    write_dataset(tmp_path / "other", [case()])
    write_lines(tmp_path / "mine" / "cases.jsonl", [case()])
    dataset = open_dataset(str(tmp_path / "mine"), fallback_catalog=str(tmp_path / "other"))
    assert count_content(dataset).catalog_digest is None


def test_the_digest_of_a_catalog_minds_words_and_not_order() -> None:
    turned = Catalog(tuple(reversed(CATALOG.plugins)), name="else")
    assert catalog_digest(turned) == catalog_digest(CATALOG)
    first = CATALOG.plugins[0]
    reworded = Plugin(first.name, tuple(replace(tool, description="Else.") for tool in first.tools))
    assert catalog_digest(Catalog((reworded, *CATALOG.plugins[1:]))) != catalog_digest(CATALOG)


def test_each_difference_says_what_is_written_and_what_is_so(tmp_path: Path) -> None:
    content = count_content(open_dataset(str(write_dataset(tmp_path / "mine", [case(kind="single")]))))
    written = replace(content, cases=2, kinds={"multi": 1}, catalog_digest=None)
    assert [(one.key, one.written, one.counted) for one in differences(written, content)] == [
        ("cases", 2, 1),
        ("kinds.single", None, 1),
        ("kinds.multi", 1, None),
    ]
    assert each_mentions(
        map(str, differences(written, content)[1:]),
        ("`content.kinds.single`", "nothing", 1),
        ("`content.kinds.multi`", 1, "none"),
    )
    assert {one.key for one in differences(None, content)} == {
        "cases",
        "clusters",
        "kinds.single",
        "answered_tools",
        "digest",
        "catalog_digest",
    }
