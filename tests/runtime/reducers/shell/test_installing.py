"""Package installs: what was fetched goes, what was installed and what went wrong stays (rule R5)."""

from __future__ import annotations

import pytest

from toolbelt.runtime.reducers.reducer import ReduceInfo
from toolbelt.runtime.reducers.shell import ShellReducer
from toolbelt.runtime.results import ToolResult

R = range(40)
PIP = (
    "".join(
        f"Collecting dep{n}>=1 (from -r r.txt (line {n}))\n  Downloading dep{n}-1.0-py3-none-any.whl (12 kB)\n"
        f"     ━━━━━━━━━━━━━━━ 12.0/12.0 kB 1.2 MB/s eta 0:00:00\nRequirement already satisfied: old{n} in /lib\n"
        for n in R
    )
    + "Building wheel for bad (pyproject.toml): finished with status 'error'\n  error: subprocess-exited-with-error\n"
    + "WARNING: Running pip as the 'root' user\nInstalling collected packages: dep0\n"
    + "Successfully installed dep0-1.0 dep1-1.0\n"
)
UV = (
    "".join(f"Downloading dep{n} (1.2MiB)\n Downloaded dep{n}\n" for n in R)
    + "Resolved 41 packages in 3ms\nInstalled 2 packages in 4ms\n + a==1.0\n + b==2.0\nwarning: `a` is yanked\n"
)
NPM = (
    "".join(f"npm http fetch GET 200 https://registry.example.org/dep{n} 12ms\n" for n in R)
    + "npm warn deprecated glob@7: no longer kept\nadded 120 packages, and audited 121 packages in 3s\n"
    + "12 packages are looking for funding\n  run `npm fund` for details\n2 high severity vulnerabilities\n"
)
PNPM = (
    "".join(f"Progress: resolved {n}, reused 0, downloaded {n}, added 0\n" for n in R)
    + "Packages: +2\n++\n WARN  deprecated glob@7\ndependencies:\n+ react 18.0.0\nDone in 2s\n"
)
YARN = (
    "".join(f"➤ YN0013: │ dep{n}@npm:1.0.{n} can't be found in the cache\n" for n in R)
    + "➤ YN0002: │ app doesn't provide react\n➤ YN0000: Done with warnings in 2s 3ms\n"
)
APT = (
    "".join(f"Get:{n} http://deb.example.org/debian stable/main amd64 dep{n} [12 kB]\n" for n in R)
    + "Err:41 http://deb.example.org/debian stable/main amd64 gone\n  404  Not Found\n"
    + "".join(f"Selecting previously unselected package dep{n}.\nUnpacking dep{n} (1.0) ...\n" for n in R)
    + "The following NEW packages will be installed:\n  dep1 dep2\nSetting up dep1 (1.0) ...\n"
    + "0 upgraded, 2 newly installed, 0 to remove and 3 not upgraded.\nE: Unable to fetch some archives\n"
)
CARGO = (
    "    Updating crates.io index\n"
    + "".join(f"  Downloaded dep{n} v1.0.{n}\n   Compiling dep{n} v1.0.{n}\n" for n in R)
    + "warning: unused variable: `x`\n --> src/main.rs:2:9\nerror[E0425]: cannot find value `y` in this scope\n"
    + "   Installed package `tool v1.0.0` (executable `tool`)\n      Adding serde v1.0.0 to dependencies\n"
)


@pytest.mark.parametrize("known", [True, False], ids=["by-command", "by-shape"])
@pytest.mark.parametrize(
    ("text", "command", "stays"),
    [
        pytest.param(
            PIP,
            "python -m pip install -r r.txt",
            [
                *("Successfully installed dep0-1.0 dep1-1.0", "WARNING: Running pip", "status 'error'"),
                *("error: subprocess-exited-with-error", "there already: 40"),
            ],
            id="pip",
        ),
        pytest.param(UV, "uv sync", [" + a==1.0\n + b==2.0", "warning: `a` is yanked", "Installed 2"], id="uv"),
        pytest.param(NPM, "npm i", ["deprecated glob@7", "added 120 packages", "2 high severity"], id="npm"),
        pytest.param(PNPM, "pnpm install", ["+ react 18.0.0", "WARN  deprecated glob@7", "Packages: +2"], id="pnpm"),
        pytest.param(YARN, "yarn install", ["doesn't provide react", "Done with warnings"], id="yarn"),
        pytest.param(
            APT,
            "sudo DEBIAN_FRONTEND=noninteractive apt-get -y install dep1",
            [
                *("Err:41", "404  Not Found", "NEW packages will be installed:\n  dep1 dep2", "Setting up dep1 (1.0)"),
                *("E: Unable to fetch", "2 newly installed"),
            ],
            id="apt",
        ),
        pytest.param(
            CARGO,
            "cargo install tool",
            ["unused variable", "src/main.rs:2:9", "error[E0425]", "Installed package", "Adding serde v1.0.0 to dep"],
            id="cargo",
        ),
    ],
)
def test_R5_what_was_installed_and_what_went_wrong_stays(
    text: str, command: str, stays: list[str], known: bool
) -> None:
    result = ToolResult(True, text)
    made = ShellReducer().reduce(result, ReduceInfo({"cmd": command if known else "./setup.sh"})).value
    assert made.startswith("[reduced: ")
    assert [part for part in stays if part not in made] == []
    assert "dep30" not in made
    assert len(made) < len(text) / 2
