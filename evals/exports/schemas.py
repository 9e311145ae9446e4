"""The JSON Schemas of the documents that the harness writes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from toolbelt.evals.analysis.comparison import comparison_json as comparison
from toolbelt.evals.analysis.evidence import baseline_format
from toolbelt.evals.analysis.gate import gate_json as gate
from toolbelt.evals.analysis.matrix import matrix_json as compatibility
from toolbelt.evals.analysis.summary import summarize
from toolbelt.evals.analysis.summary.responses import AnswerOrigin, ModelResponses
from toolbelt.evals.analysis.summary.run_summary import ArmSummary, PassAtK, Rate
from toolbelt.evals.probing import results as probing
from toolbelt.evals.retrieval import retrieval
from toolbelt.evals.retrieval.retrieval import (
    GroupMeasures,
    Mean,
    PointAtK,
    RankerContrast,
    RankerMeasures,
    SearchedDataset,
)
from toolbelt.evals.running.overflow import ModelLimits
from toolbelt.evals.views.result_data import ArmFinding, ResultArm, ResultData
from toolbelt.views.json_values import json_schemas

SCHEMAS: Mapping[str, str] = MappingProxyType(
    {
        "run": summarize.SCHEMA,
        "comparison": comparison.SCHEMA,
        "gate": gate.SCHEMA,
        "baseline": baseline_format.SCHEMA,
        "compatibility": compatibility.SCHEMA,
        "probe": probing.SCHEMA,
        "search": retrieval.SCHEMA,
    }
)
"""Every document that has a schema, and the value of its `schema` field: a name and a version. The version is raised
when a field changes its meaning or is removed, not when one is added.
"""
_ENDING = ".schema.json"


_PARTS: Mapping[str, Mapping[str, type]] = MappingProxyType(
    {
        "run": {
            "rate": Rate,
            "arm": ArmSummary,
            "pass": PassAtK,
            "room": ModelLimits,
            "model_responses": ModelResponses,
            "answer_origin": AnswerOrigin,
            "result": ResultData,
            "result_arm": ResultArm,
            "arm_finding": ArmFinding,
        },
        "comparison": {"model_responses": ModelResponses, "answer_origin": AnswerOrigin},
        "compatibility": {"rate": Rate},
        "search": {
            "mean": Mean,
            "point": PointAtK,
            "group": GroupMeasures,
            "ranker": RankerMeasures,
            "contrast": RankerContrast,
            "dataset": SearchedDataset,
        },
    }
)
"""The parts of documents that are dataclasses, from which their schemas come; the rest is in the files."""


def read_schema(name: str) -> dict[str, Any]:
    """The schema of a document, with all schemas that it refers to inside, so that it is complete.

    Args:
        name: One of `SCHEMAS`.
    """
    inside: dict[str, Any] = {}
    schema: dict[str, Any] = _placed(_read(name), "#", inside)
    return schema | ({"$defs": {**schema.get("$defs", {}), **inside}} if inside else {})


def _read(name: str) -> dict[str, Any]:
    schema: dict[str, Any] = json.loads(Path(__file__).with_name(name + _ENDING).read_text(encoding="utf-8"))
    parts = json_schemas(_PARTS.get(name, {})) | schema.get("$defs", {})
    return schema | ({"$defs": parts} if parts else {})


def _placed(part: Any, root: str, inside: dict[str, Any]) -> Any:
    """A part of a schema that stands at `root`, with what it refers to put beside it.

    Args:
        part: Of a schema, or all of it.
        root: Where `#` of its file is now.
        inside: Schemas of other files by their name; those it refers to are added.
    """
    if isinstance(part, list):
        return [_placed(item, root, inside) for item in part]
    if not isinstance(part, dict):
        return part
    placed = {key: value if key == "$ref" else _placed(value, root, inside) for key, value in part.items()}
    target = part.get("$ref")
    if isinstance(target, str):
        name = target.removesuffix(_ENDING)
        placed["$ref"] = target.replace("#", root, 1) if name == target else f"#/$defs/{name}"
        if name not in (target, *inside):
            inside[name] = {}  # before it is read, for it may refer back
            other = _read(name)
            inside[name] = _placed(
                {key: other[key] for key in other if key[:1] != "$" or key == "$defs"}, f"#/$defs/{name}", inside
            )
    return placed
