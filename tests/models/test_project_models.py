"""Models of `toolbelt.yaml`, read strictly: every mistake with its line and place (rule L10)."""

from __future__ import annotations

import pytest

from tests.wording import mentions
from toolbelt.findings import Finding
from toolbelt.models.facts import ModelPrices
from toolbelt.models.project_models import Known, ProjectModel, read_models
from toolbelt.models.token_rates import Basis, TokenRate
from toolbelt.sources import examine_yaml


def _read(text: str) -> tuple[list[str], list[ProjectModel], list[Finding]]:
    document, findings = examine_yaml(text, "toolbelt.yaml")
    assert document is not None
    assert not findings
    return read_models(document, "models", known=Known(("minimal", "Dev"), ("Helper", "helped")))


def test_names_and_what_is_said_of_them() -> None:
    names, own, findings = _read(
        "models:\n- gpt-4o\n- name: hosted_vllm/q\n  base: ollama/llama3.1\n  provider: hosted_vllm\n"
        "  context_window: 6000\n  output_limit: 2e3\n  output_reserve: 500\n  max_tools: 32\n  tool_calling: true\n"
        "  parallel_calls: false\n  tool_choice: true\n  caching: false\n  api: responses\n"
        "  prices: {input: 0, output: 1.5, cache_read: 0.1}\n"
        "  token_rate: {factor: 1.31, fixed: 480, error: 0.04, tokenizer: estimate}\n  toolset: LOADOUT:Dev\n"
        "- gpt-4o\n- {name: x, context_window: }\n"
    )
    assert not findings
    assert names == ["gpt-4o", "hosted_vllm/q", "x"]
    assert own == [
        ProjectModel(
            "hosted_vllm/q",
            base="ollama/llama3.1",
            provider="hosted_vllm",
            context_window=6000,
            output_limit=2000,
            output_reserve=500,
            max_tools=32,
            tool_calling=True,
            parallel_calls=False,
            tool_choice=True,
            caching=False,
            api="responses",
            prices=ModelPrices(0, 1.5, 0.1),
            token_rate=TokenRate("", 480, 0, 1.31, 0.04, basis=Basis.STATED, tokenizer="estimate"),
            toolset="loadout:Dev",
        ),
        ProjectModel("x"),
    ]


def test_a_label_stands_in_the_place_of_the_name() -> None:
    names, own, findings = _read("models:\n- {name: a/long/name, label: small}\n- {name: b, label: B}\n- c\n")
    assert (names, findings) == (["small", "B", "c"], [])
    assert [(model.name, model.label) for model in own] == [("a/long/name", "small"), ("b", "B")]


@pytest.mark.parametrize(
    ("text", "rule", "line", "named"),
    [
        pytest.param(
            "models:\n- {name: a, label: s}\n- {name: b, label: S}", "bad-label", 3, "'S'", id="a-label-twice"
        ),
        pytest.param("models:\n- b\n- {name: a, label: B}", "bad-label", 3, "'b'", id="a-label-that-is-a-name"),
        pytest.param("models:\n- {name: a, label: B}\n- b", "duplicate-entry", 3, "'a'", id="a-name-that-is-a-label"),
        pytest.param("models:\n- {name: a, label: 'b,c'}", "bad-label", 2, "comma", id="a-label-with-a-comma"),
        pytest.param("models: {a: {}}", "wrong-type", 1, "list of names", id="a-mapping-of-models"),
        pytest.param("models:\n- a\n- [b]", "wrong-type", 3, ("`models[1]`", "name"), id="a-list-in-it"),
        pytest.param("models:\n- a:\n    caching: true", "wrong-type", 2, "write `name: a`", id="keyed-by-its-name"),
        pytest.param("models:\n- caching: true", "missing-key", 2, "says in `name`", id="no-name"),
        pytest.param("models:\n- name: a\n  contextwindow: 1", "unknown-key", 3, "'context_window'", id="nearest-key"),
        pytest.param(
            "models:\n- name: a\n  max_input_tokens: 1",
            "unknown-key",
            3,
            "It is written 'context_window' here",
            id="the-words-of-litellm-are-known",
        ),
        pytest.param("models:\n- name: a\n  context_window: 128k", "wrong-type", 3, "'128k'", id="a-text-as-a-number"),
        pytest.param("models:\n- name: a\n  api: response", "unknown-api", 3, "'responses'", id="no-api"),
        pytest.param("models:\n- name: a\n  max_tools: 0", "wrong-type", 3, "above 0, not 0", id="nothing"),
        pytest.param("models:\n- name: a\n  output_limit: 1.5", "wrong-type", 3, "whole number", id="half-a-token"),
        pytest.param("models:\n- name: a\n  caching: 'no'", "wrong-type", 3, "true or false", id="a-word-as-a-switch"),
        pytest.param("models:\n- name: a\n  base: 4", "wrong-type", 3, "`models[0].base`", id="a-number-as-a-base"),
        pytest.param("models:\n- name: a\n  prices: 3", "wrong-type", 3, "`input` and `output`", id="one-price"),
        pytest.param("models:\n- name: a\n  prices: {input: 1}", "missing-key", 3, "lacks `output`", id="half-a-price"),
        pytest.param("models:\n- name: a\n  token_rate: 1.3", "wrong-type", 3, "`factor` and `error`", id="one-factor"),
        pytest.param(
            "models:\n- name: a\n  token_rate: {factor: 1.3}", "missing-key", 3, "lacks `error`", id="no-error"
        ),
        pytest.param(
            "models:\n- name: a\n  token_rate: {factor: 1, error: 0, tokenizer: o200k}",
            "unknown-tokenizer",
            3,
            "'o200k_base'",
            id="no-tokenizer",
        ),
        pytest.param("models:\n- name: a\n  prices: {}", "missing-key", 3, "`input` and `output`", id="no-price"),
        pytest.param(
            "models:\n- name: a\n  prices:\n    input: 1\n    output: -2",
            "wrong-type",
            5,
            "0 or more, not -2",
            id="less-than-nothing",
        ),
        pytest.param(
            "models:\n- name: a\n  prices:\n    input: 1\n    output: 2\n    cached_input: 0",
            "unknown-key",
            6,
            "'cache_read'",
            id="another-word-for-a-price",
        ),
        pytest.param("models:\n- a\n- name: a", "duplicate-entry", 3, "stands here twice", id="twice"),
        pytest.param("models:\n- name: a\n- name: A", "duplicate-entry", 3, "first as 'a'", id="twice-but-for-case"),
        pytest.param("models:\n- name: a\n- a", "duplicate-entry", 3, "stands here twice", id="its-name-again"),
        pytest.param("models:\n- name: a\n  base: a", "cycle", 3, "a → a", id="based-on-itself"),
        pytest.param(
            "models:\n- {name: x, base: a}\n- name: a\n  base: b\n- {name: b, base: a}",
            "cycle",
            4,
            "a → b → a",
            id="a-cycle-is-told-once-at-its-first",
        ),
        pytest.param(
            "models:\n- name: a\n  tool_calling: false\n  tool_choice: true",
            "contradiction",
            4,
            "`tool_choice` cannot be true",
            id="made-to-call-without-tools",
        ),
        pytest.param(
            "models:\n- name: a\n  tool_calling: false\n  max_tools: 64", "contradiction", 4, "64", id="tools-without"
        ),
        pytest.param(
            "models:\n- name: a\n  context_window: 4096\n  output_reserve: 4096",
            "contradiction",
            4,
            "4,096 tokens leave nothing",
            id="a-reserve-of-everything",
        ),
        pytest.param(
            "models:\n- name: a\n  toolset: tierd",
            "unknown-toolset",
            3,
            ("`models[0].toolset`", "tierd", "tiered"),
            id="nearest-toolset",
        ),
        pytest.param("models:\n- name: a\n  toolset: oracle+9", "unknown-toolset", 3, "for evals", id="an-oracle"),
        pytest.param(
            "models:\n- name: a\n  toolset: dev",
            "unknown-toolset",
            3,
            "write 'loadout:Dev'",
            id="a-loadout-that-does-not-say-so",
        ),
        pytest.param(
            "models:\n- name: a\n  toolset: loadout", "unknown-toolset", 3, "which loadout", id="a-case's-role"
        ),
        pytest.param("models:\n- name: a\n  toolset: 'loadout:*'", "unknown-toolset", 3, "several", id="a-pattern"),
        pytest.param("models:\n- name: a\n  toolset: full:x", "unknown-toolset", 3, "name alone", id="more-than-full"),
        pytest.param("models:\n- name: a\n  toolset: 'dynamic:'", "unknown-toolset", 3, "which agent", id="no-agent"),
        pytest.param(
            "models:\n- name: a\n  toolset: dynamic:helpr",
            "unknown-agent",
            3,
            ("helpr", "Helper", "helped"),
            id="nearest-agent",
        ),
        pytest.param("models:\n- name: a\n  toolset: [full]", "wrong-type", 3, "not a list", id="a-list-of-toolsets"),
        pytest.param("models:\n- name: a\n  toolset: ' '", "wrong-type", 3, "not blank", id="a-blank-toolset"),
        pytest.param(
            "models:\n- name: a\n  loadout: dev", "unknown-key", 3, "It is written 'toolset'", id="a-loadout-as-a-key"
        ),
        pytest.param(
            "models:\n- name: a\n  tool_calling: false\n  toolset: full",
            "contradiction",
            4,
            "`toolset` cannot be 'full'",
            id="a-toolset-for-what-calls-none",
        ),
    ],
)
def test_L10_what_is_refused(text: str, rule: str, line: int, named: object) -> None:
    _, _, findings = _read(text)
    assert [(finding.rule, finding.line) for finding in findings] == [(rule, line)]
    assert mentions(findings[0].message, named)


def test_L10_every_mistake_is_told_at_once() -> None:
    _, _, findings = _read("models:\n- 7\n- name: a\n  window: 1\n  caching: 2\n- base: b\n  prices: {input: x}\n")
    assert [(finding.line, finding.rule) for finding in findings] == [
        (2, "wrong-type"),
        (4, "unknown-key"),
        (5, "wrong-type"),
        (7, "wrong-type"),
        (7, "missing-key"),
        (6, "missing-key"),
    ]
