"""A short conformance run over a model's real API: what of tool calling works there."""
