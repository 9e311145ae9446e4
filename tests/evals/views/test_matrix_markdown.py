"""Models × toolsets as Markdown (rule E10)."""

from __future__ import annotations

from tests.evals.analysis.matrix.runs import Asked, WrittenRun, matrix_of
from tests.evals.views.test_matrix_view import RUN
from toolbelt.evals.analysis.matrix.recommendation import recommendation
from toolbelt.evals.views.matrix_markdown import matrix_markdown

GOOD = "+" * 90 + "-" * 10


def test_E10_the_whole_of_it() -> None:
    found = matrix_of(RUN, 0.1)
    first, second, third = (" ".join(row.pick.reasons) for row in found.rows)
    assert (
        matrix_markdown(found)
        == f"""\
## Which toolset for which model

Run {found.run}, dataset assistant, catalog assistant: 100 cases, 3 models × 3 toolsets.

| model | full | loadout:minimal | tiered |
|---|---:|---:|---:|
| gpt-4o | 90.0% ^ | 88.0% \\* | 75.0%, 20% too long |
| ollama/qwen3:8b | cannot fit | 90.0% \\*^ | not run |
| deaf | no tool calls | not run | not run |

Figures are accuracies: right by names, of the trials that were scored; \\* to be given, sure: the smallest that is \
surely not worse than the best by more than 10 points; small: the fewest tokens of definitions over all requests \
of a trial; ^ the best as measured; too long: of its trials, that did not fit the model; they are in no accuracy.

- gpt-4o: {first}
- ollama/qwen3:8b: {second}
- deaf: {third}
- gpt-4o with tiered: 20 of 100 trials too long for the model: The window was too small.
- ollama/qwen3:8b with full: cannot fit: 100 of 100 trials too long for the model and not asked: No room.
- deaf with full: no tool calls: It does not call tools.

For `toolbelt.yaml`:

```yaml
{recommendation(found)}```
"""
    )


def test_E10_whichever_are_fewer_stand_above() -> None:
    text = matrix_markdown(matrix_of([Asked("full", GOOD, 9000), Asked("tiered", GOOD, 90)], 0.1))
    assert "| toolset | m |\n|---|---:|\n| full | 90.0% |\n| tiered | 90.0% \\*^ |" in text


def test_C_foreign_names_break_nothing() -> None:
    model = "a|b `c` <b>d</b> @all\n```\n# evil"
    run = WrittenRun([Asked("full", GOOD, 9000, model=model), Asked("tiered", GOOD, 90, model=model)], reason="x")
    text = matrix_markdown(matrix_of(run, 0.1), level=3)
    assert text.startswith("### Which toolset")
    table, _, yaml = text.partition("For `toolbelt.yaml`:")
    assert "<b>" not in table
    assert "@all" not in table.replace("@<!-- -->all", "")
    assert "\n# evil" not in text
    fence = yaml.split("\n")[2]
    assert fence == "````yaml"
    assert yaml.count("````") == 2
    [head, rule, *rows] = [line for line in table.splitlines() if line.startswith("|")]
    assert all(line.replace("\\|", "").count("|") == rule.count("|") for line in [head, *rows])
