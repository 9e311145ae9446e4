"""Package installs: which lines of them are about looking, fetching and unpacking."""

from __future__ import annotations

import re

from toolbelt.catalog.frozen import FrozenDict
from toolbelt.runtime.reducers.shell.noise import Noise, any_of

CARGO_STEP = r"\s+(?:Compiling|Downloaded|Downloading|Checking|Fresh|Updating|Locking|Blocking|Building|Dirty)\s"

INSTALLS: tuple[Noise, ...] = (
    Noise(
        "pip",
        ("pip install", "pip download", "pip wheel", "pip sync", "pipx install"),
        any_of(r"Successfully installed \S", r"Requirement already satisfied: "),
        any_of(
            r"\s*(?:Collecting|Downloading|Using cached|Obtaining|Processing|Looking in)\b",
            r"\s*(?:Building wheel|Installing build|Getting requirements|Checking if build|Created wheel) ",
            r"\s*(?:Stored in directory|Saved|Preparing metadata) ",
            r"\s*(?:Found existing installation|Attempting uninstall|Uninstalling|Successfully uninstalled)\b",
            r"Requirement already satisfied: ",
            r"Installing collected packages: ",
            r"\s*[━╸╺ ]*━[━╸╺]* ",
            r"\s+\|[█▏▎▍▌▋▊▉ ]+\|",
        ),
        careful=True,
        tally=FrozenDict({"there already": re.compile(r"Requirement already satisfied: ")}),
    ),
    Noise(
        "uv",
        ("uv pip", "uv sync", "uv add", "uv lock", "uv tool install"),
        any_of(r"(?:Installed|Resolved|Audited|Prepared) \d+ packages? in "),
        any_of(r"\s*(?:Downloading|Downloaded|Building|Built|Updating|Updated|Prepared|Audited) ", r" [~] "),
        careful=True,
    ),
    Noise(
        "npm",
        ("npm install", "npm i", "npm ci", "npm add", "npm update"),
        any_of(r"(?:added|changed|removed) \d+ packages?\b", r"up to date, audited \d+ packages"),
        any_of(
            r"npm (?:http|timing|verb|verbose|sill|silly|info|notice)\b",
            r"\s*\d+ packages? (?:is|are) looking for funding",
            r"\s+run `npm fund` for details",
        ),
        careful=True,
    ),
    Noise(
        "yarn",
        ("yarn install", "yarn add", "yarn upgrade"),
        any_of(r"yarn (?:install|add) v\d", r"➤ YN0000: "),
        any_of(r"\[\d/\d\] ", r"info ", r"➤ YN00(?:13|19): ", r"➤ YN0000: [┌└]"),
        careful=True,
    ),
    Noise(
        "pnpm",
        ("pnpm install", "pnpm i", "pnpm add", "pnpm update"),
        any_of(r"Progress: resolved \d+, reused \d+", r"Packages: \+\d+"),
        any_of(r"Progress: resolved ", r"\++-*$", r"Downloading \S+: "),
        careful=True,
    ),
    Noise(
        "apt",
        ("apt install", "apt-get install", "apt update", "apt-get update", "apt upgrade", "apt-get upgrade"),
        any_of(r"Reading package lists\.\.\.", r"\d+ (?:upgraded|newly installed), \d+ "),
        any_of(
            r"(?:Get|Hit|Ign):\d+ ",
            r"(?:Reading (?:package lists|state information)|Building dependency tree)",
            r"(?:Selecting previously unselected package|Preparing to unpack|Unpacking|Processing triggers for) ",
            r"\(Reading database ",
            r"(?:Extracting templates|Preconfiguring packages|Scanning )",
        ),
        careful=True,
    ),
    Noise(
        "cargo",
        ("cargo install", "cargo build", "cargo b", "cargo add", "cargo check", "cargo fetch", "cargo update"),
        any_of(r"\s+(?:Compiling|Downloaded) \S+ v\d"),
        any_of(
            CARGO_STEP,
            r"\s+Adding \S+ v\S+(?: \(.*\))?$",
        ),
        careful=True,
    ),
)
"""One row for each package manager. What was installed, warnings and errors are noise in none."""
