"""
Builds the embedder that the configuration names, or says why there is none.
"""

import structlog

from app.config import EmbeddingSettings
from app.errors import LaminaError
from app.providers.model_files import ModelFileFault, ModelFiles
from app.providers.protocols import Embedder, ProviderError, ProviderState

log = structlog.get_logger(__name__)


def build_embedder(settings: EmbeddingSettings, models: ModelFiles) -> Embedder | ProviderState:
    """
    The embedder; or, where there is none, the state to show: ok for the provider `none`, else not ok with a detail
    that begins with the reason (`embedder_model_missing: bge-small-en-v1.5-int8/model.onnx`).

    Never raises, so that a broken provider costs the semantic arm and not the service. Loads the model's files for the
    provider `local` (a second or less); sends nothing for `openai`.
    """
    if settings.provider == "none":
        return ProviderState("none", True, "embedding_off: recall is lexical")
    try:
        return _local(settings, models) if settings.provider == "local" else _openai(settings)
    except ModelFileFault as fault:
        detail = f"embedder_model_{fault.fault}: {fault.file}"
    except ProviderError as error:
        detail = error.detail
    except LaminaError as error:
        detail = f"embedder_model_unknown: {error.detail}"
    except Exception as error:
        log.exception("embedder_not_built", provider=settings.provider)
        detail = f"embedder_broken: {type(error).__name__}: {error}"
    log.warning("embedder_disabled", provider=settings.provider, detail=detail)
    return ProviderState(settings.provider, False, detail)


def _local(settings: EmbeddingSettings, models: ModelFiles) -> Embedder:
    entry = models.manifest.entry(settings.model)
    files = models.require(entry.name)
    # imported here so that a machine on which onnxruntime cannot be loaded keeps its lexical recall
    from app.providers.local import load_local

    return load_local(entry, files, settings)


def _openai(settings: EmbeddingSettings) -> Embedder:
    from app.providers.openai import load_openai

    return load_openai(settings)
