"""What is installed: the shipped datasets wherever toolbelt is, and no name that belongs to somebody else."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A source distribution, and a wheel built from it."""
    folder = tmp_path_factory.mktemp("dist")
    source = tmp_path_factory.mktemp("source")
    tracked = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.splitlines()
    for name in tracked:
        if (ROOT / name).is_file():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            (source / name).write_bytes((ROOT / name).read_bytes())
        elif (ROOT / name).is_symlink():  # toolbelt/evals, which leads to evals/
            (source / name).symlink_to((ROOT / name).readlink())
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(source)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "would be ignored" not in done.stdout + done.stderr
    return folder


def test_the_wheel_takes_no_name_of_a_public_package(distributions: Path) -> None:
    (wheel,) = distributions.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    top = {name.split("/")[0] for name in names}
    assert {name for name in top if not name.endswith(".dist-info")} == {"toolbelt"}
    assert not any("/tests/" in name or name.startswith("tests/") for name in names)


def test_wheel_and_source_hold_the_datasets_and_the_licence(distributions: Path) -> None:
    (wheel,) = distributions.glob("*.whl")
    (source,) = distributions.glob("*.tar.gz")
    in_wheel = zipfile.ZipFile(wheel).namelist()
    with tarfile.open(source) as archive:
        in_source = archive.getnames()
    for name in ("assistant", "tiered"):
        assert f"toolbelt/_datasets/{name}/catalog.json" in in_wheel
        assert any(member.endswith(f"/datasets/{name}/catalog.json") for member in in_source)
    assert "toolbelt/_datasets/assistant/cases.jsonl" in in_wheel
    assert "toolbelt/evals/cli/run.py" in in_wheel
    assert {"toolbelt/evals/viewer/page.html", "toolbelt/evals/viewer/page.css"} <= set(in_wheel)
    assert "toolbelt/evals/exports/run.schema.json" in in_wheel
    assert "toolbelt/py.typed" in in_wheel
    assert any(member.endswith("licenses/LICENSE") for member in in_wheel)


def test_an_installed_wheel_works_outside_of_the_repository(distributions: Path, tmp_path: Path) -> None:
    (wheel,) = distributions.glob("*.whl")
    site = tmp_path / "site"
    zipfile.ZipFile(wheel).extractall(site)
    work = tmp_path / "work"
    work.mkdir()
    environment = {**os.environ, "PYTHONPATH": str(site)}

    def run(*arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, *arguments], cwd=work, env=environment, capture_output=True, text=True, check=True
        )
        return done.stdout

    assert Path(run("-c", "import toolbelt; print(toolbelt.__file__)").strip()).is_relative_to(site)
    assert "active 94 tools" in run("-m", "toolbelt", "loadout", "inspect", "developer")
    ran = json.loads(run("-m", "toolbelt", "eval", "run", "--limit", "5", "--toolset", "full,tiered", "--json"))
    assert (ran["scored"], ran["planned"]) == (10, 10)
    listed = run("-m", "toolbelt", "catalog", "list", "--shipped")
    assert "assistant" in listed
    assert "tiered" in listed


def test_every_package_and_dataset_is_listed() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]
    inside = [path.parent.relative_to(ROOT) for path in (ROOT / "toolbelt").rglob("__init__.py")]
    beside = [Path("toolbelt") / path.parent.relative_to(ROOT) for path in (ROOT / "evals").rglob("__init__.py")]
    code = {".".join(path.parts) for path in (*inside, *beside)}
    data = {f"toolbelt._datasets.{path.parent.name}" for path in (ROOT / "datasets").glob("*/cases.jsonl")}
    assert set(settings["packages"]) == code | data | {"toolbelt._datasets"}
    inner = {"toolbelt", "toolbelt.evals.browsing", "toolbelt.evals.exports", "toolbelt.evals.viewer"}
    assert data | inner == set(settings["package-data"])


def test_versions_agree() -> None:
    import toolbelt

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["version"] == toolbelt.__version__


def test_everything_that_is_asked_for_is_pinned() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    pinned = {
        line.split("==")[0].lower().replace("_", "-") for line in (ROOT / "constraints.txt").read_text().splitlines()
    }
    wanted = [*project["project"]["dependencies"], *project["project"]["optional-dependencies"]["dev"], "setuptools"]
    names = {
        requirement.split(">")[0].split("<")[0].split("[")[0].strip().lower().replace("_", "-")
        for requirement in wanted
    }
    assert names <= pinned
