"""Engines as they are written after `--engine`."""

from __future__ import annotations

import pytest

from tests.wording import naming
from toolbelt.errors import ToolbeltError
from toolbelt.evals.running.engine_choice import EngineChoice, parse_engine


@pytest.mark.parametrize(
    ("text", "choice"),
    [
        pytest.param("process", EngineChoice(), id="this-process"),
        pytest.param("dask", EngineChoice(is_dask=True), id="a-worker-a-core"),
        pytest.param("dask:3", EngineChoice(is_dask=True, workers=3), id="three-workers"),
        pytest.param("dask:10.0.0.5:8786", EngineChoice(is_dask=True, address="10.0.0.5:8786"), id="a-scheduler"),
        pytest.param("dask:tls://s-1.x:8786", EngineChoice(is_dask=True, address="tls://s-1.x:8786"), id="tls"),
        pytest.param("dask:[::1]:8786", EngineChoice(is_dask=True, address="[::1]:8786"), id="ipv6"),
    ],
)
def test_X5_an_engine_is_read_and_written(text: str, choice: EngineChoice) -> None:
    assert parse_engine(text) == choice
    assert str(choice) == text


@pytest.mark.parametrize(
    ("text", "named"),
    [
        pytest.param("dusk", ("dusk", "dask"), id="a-slip-of-the-hand"),
        pytest.param("process:2", ("process:2",), id="one-process-is-one"),
        pytest.param("", ("process", "dask"), id="nothing"),
        pytest.param("dask:", ("HOST:PORT",), id="no-address"),
        pytest.param("dask:scheduler", ("scheduler", "HOST:PORT"), id="no-port"),
        pytest.param("dask:h:65536", ("65536", "HOST:PORT"), id="no-port-has-that-number"),
        pytest.param("dask:http://h:1", ("http://h:1", "HOST:PORT"), id="no-address-of-a-scheduler"),
        pytest.param("dask:0", ("0", "1,000"), id="no-workers"),
        pytest.param("dask:1001", ("1,001", "1,000"), id="too-many-workers"),
        pytest.param("dask:h:1\x1b[31m", ("HOST:PORT",), id="a-terminal-escape"),
    ],
)
def test_X5_what_is_no_engine_is_refused(text: str, named: tuple[str, ...]) -> None:
    with pytest.raises(ToolbeltError, match=naming(*named)):
        parse_engine(text)
