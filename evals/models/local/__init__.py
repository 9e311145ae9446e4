"""`local/bm25`: an offline baseline that plays the agent by counting words. It is no LLM."""

from toolbelt.evals.models.local.agent import LOCAL_MODELS, LocalModel, make_local_model

__all__ = ["LOCAL_MODELS", "LocalModel", "make_local_model"]
