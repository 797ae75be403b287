"""
The composition root: from settings to a service whose parts know each other.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.resources import files

from app.clock import Clock, SystemClock
from app.config import ClusterSettings, Settings
from app.domain.ranking.fused import FusedParams
from app.domain.ranking.scorers import SCORERS
from app.domain.signals.cluster import Clusters
from app.domain.text.lexicon import parse_clusters, parse_stop_words
from app.domain.text.tokenize import Analyzer
from app.domain.units import build_units
from app.jobs.assembly import Background, background, triggers
from app.providers.embedding_cache import QueryVectors
from app.providers.factory import build_embedder
from app.providers.llm_factory import LanguageModels, build_language_models
from app.providers.model_files import ModelFiles
from app.providers.protocols import Embedder, ProviderState
from app.providers.tokens import Tokenizers
from app.services.access_log import AccessLog
from app.services.banks import Banks
from app.services.contacts import Contacts
from app.services.context import ContextService
from app.services.context_profiles import context_profiles
from app.services.context_records import StoredContextRecords
from app.services.core_tier import CoreTier
from app.services.doctor import Doctor
from app.services.documents import Documents
from app.services.entities import Entities
from app.services.idempotency import Idempotency
from app.services.indexer import Indexer
from app.services.jobs import Jobs
from app.services.keys import Keys
from app.services.learned_rules import LearnedRules
from app.services.memories import Memories
from app.services.overview import Overview
from app.services.preparation import Preparation
from app.services.query_vectors import QueryEmbedding
from app.services.recall import Recall
from app.services.remember import Remember
from app.services.structuring import TASK as STRUCTURING
from app.storage import migrate
from app.storage.engine import Storage
from app.storage.model_usage import ModelUsageAccount
from app.storage.protocols import RecallIndex
from app.storage.resident.index import ResidentIndex
from app.storage.sql_index import SqlIndex

TEXT_DATA = "app.domain.text"


@dataclass(frozen=True, slots=True)
class Container:
    """
    A service put together: its parts, and how to start and stop it.
    """

    settings: Settings
    clock: Clock
    storage: Storage
    models: ModelFiles
    tokenizers: Tokenizers
    embedder: Embedder | ProviderState
    language_models: LanguageModels
    query_vectors: QueryVectors
    indexer: Indexer
    access_log: AccessLog
    keys: Keys
    banks: Banks
    remember: Remember
    memories: Memories
    documents: Documents
    background: Background
    jobs: Jobs
    overview: Overview
    contacts: Contacts
    entities: Entities
    recall: Recall
    context: ContextService
    doctor: Doctor
    idempotency: Idempotency

    @property
    def rules(self) -> LearnedRules:
        """
        The rules that are learned, and the proposals.
        """
        return self.background.rules

    async def start(self, *, working: bool = False) -> None:
        """
        Begin the background work: vectors always, jobs only if `working`.
        """
        await self.indexer.start()
        if working:
            self.background.start()

    async def stop(self) -> None:
        """
        End the background work, write what is gathered, and close everything.
        """
        await self.background.stop()
        await self.indexer.stop()
        await self.access_log.stop()
        await self.language_models.close()
        await self.query_vectors.close()
        if not isinstance(self.embedder, ProviderState):
            await self.embedder.close()
        self.storage.close()


def build(
    settings: Settings,
    clock: Clock | None = None,
    embedder: Embedder | ProviderState | None = None,
    language_models: LanguageModels | None = None,
) -> Container:
    """
    Put a service together on its database, which is brought to the present schema.

    `embedder` and `language_models` replace the configured ones.

    Raises:
        StorageError: when the store cannot be used.
        ConfigError: when a setting does not fit its data.
    """
    clock = clock or SystemClock()
    storage = Storage(settings.storage)
    migrate.upgrade(storage.writer_engine)
    models = ModelFiles.configured(settings.models)
    tokenizers = Tokenizers(models, settings.tokens)
    provider = build_embedder(settings.embedding, models) if embedder is None else embedder
    active = None if isinstance(provider, ProviderState) else provider
    clusters = cluster_words(settings.clusters)
    analyzer = load_analyzer()
    preparation = Preparation(analyzer, Clusters(clusters), settings.short_term)
    llms = language_models or build_language_models(settings.llm, ModelUsageAccount(storage), clock)
    bell = asyncio.Event()
    indexer = Indexer(storage, active, clock, settings.embedding.batch_size)
    query_vectors = QueryVectors(settings.embedding.query_cache_entries)
    access_log = AccessLog(storage, clock, settings.recall.access_flush_s)
    banks = Banks(storage, preparation, clock, None if active is None else active.space.identity())
    memories = Memories(
        storage,
        preparation,
        indexer,
        clock,
        settings.memory,
        settings.server,
        lambda: llms.available(STRUCTURING),
        bell.set,
    )
    documents = Documents(storage, preparation, indexer, clock, settings.documents, settings.short_term)
    work = background(storage, documents, memories.writer, analyzer, llms, indexer, clock, settings, bell)
    reason = provider.detail if isinstance(provider, ProviderState) else ""
    params = FusedParams(**settings.recall.fused.model_dump())
    recall = Recall(
        storage,
        _index(settings, storage, preparation),
        preparation,
        QueryEmbedding(active, reason, indexer, query_vectors, settings.embedding),
        {name: partial(make, params) for name, make in SCORERS.items()},
        access_log,
        clock,
        settings.recall,
    )
    context_records = StoredContextRecords(storage, recall, access_log, clock, settings.scopes)
    return Container(
        settings=settings,
        clock=clock,
        storage=storage,
        models=models,
        tokenizers=tokenizers,
        embedder=provider,
        language_models=llms,
        query_vectors=query_vectors,
        indexer=indexer,
        access_log=access_log,
        keys=Keys(storage, clock, settings.auth),
        banks=banks,
        remember=Remember(
            storage,
            preparation,
            indexer,
            clock,
            settings.short_term,
            settings.server,
            triggers(settings, llms, bell),
        ),
        memories=memories,
        documents=documents,
        background=work,
        jobs=Jobs(storage, clock, bell.set),
        overview=Overview(storage, clock),
        contacts=Contacts(storage, clock),
        entities=Entities(storage, clock),
        recall=recall,
        context=ContextService(
            context_records,
            CoreTier(context_records, settings.core, clock),
            tokenizers,
            context_profiles(settings),
            settings.context.default_profile,
            clock,
        ),
        idempotency=Idempotency(storage, clock, settings.server),
        doctor=Doctor(storage, banks, memories, recall, indexer, _states(provider, tokenizers, llms, work)),
    )


def load_analyzer() -> Analyzer:
    """
    The analyzer with the stop words that come with the project.
    """
    lists = files(TEXT_DATA).joinpath("stopwords")
    words = {
        item.name.removesuffix(".txt"): parse_stop_words(item.read_text(encoding="utf-8"))
        for item in sorted(lists.iterdir(), key=lambda item: item.name)
        if item.name.endswith(".txt")
    }
    return Analyzer(words)


def cluster_words(settings: ClusterSettings) -> dict[str, tuple[str, ...]]:
    """
    The words of each topic cluster: those that come with the project, and those that the configuration adds.
    """
    words = parse_clusters(files(TEXT_DATA).joinpath("clusters.toml").read_text(encoding="utf-8"))
    for name, extra in settings.extra.items():
        words[name] = (*words.get(name, ()), *extra)
    return words


def _index(settings: Settings, storage: Storage, preparation: Preparation) -> RecallIndex:
    in_sql = SqlIndex(in_sql=storage.has_vector_functions)
    if settings.resident.max_mb == 0:
        return in_sql
    units_of = partial(
        build_units,
        source=preparation.analyzer,
        passage_chars=settings.short_term.passage_chars,
        passage_overlap=settings.short_term.passage_overlap,
    )
    return ResidentIndex(in_sql, units_of, settings.resident.max_mb * 1024 * 1024)


def _states(
    provider: Embedder | ProviderState, tokenizers: Tokenizers, models: LanguageModels, work: Background
) -> Callable[[], list[ProviderState]]:
    def states() -> list[ProviderState]:
        embedder = provider if isinstance(provider, ProviderState) else provider.state()
        return [
            ProviderState("embedder", embedder.ok, f"{embedder.name}: {embedder.detail}"),
            ProviderState("tokens", tokenizers.state().ok, tokenizers.state().detail),
            *_model_states(models),
            work.extraction.state(),
            work.worker.provider_state(),
        ]

    return states


def _model_states(models: LanguageModels) -> list[ProviderState]:
    """One state for each model, with the tasks that ask it."""
    tasks: dict[tuple[str, bool, str], list[str]] = {}
    for task, state in models.states().items():
        tasks.setdefault((state.name, state.ok, state.detail), []).append(task)
    return [
        ProviderState("language_model", ok, f"{name} ({', '.join(served)}): {detail}" if name != "none" else detail)
        for (name, ok, detail), served in tasks.items()
    ]
