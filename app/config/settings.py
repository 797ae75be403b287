"""
The whole configuration as one model, and the order in which its sources count.
"""

from pydantic_settings import BaseSettings, InitSettingsSource, PydanticBaseSettingsSource, SettingsConfigDict

from app.config.consolidation import ExtractionSettings, HygieneSettings, RuleSettings
from app.config.context import ContextSettings
from app.config.documents import DocumentSettings
from app.config.file import config_path, read_config_file
from app.config.jobs import JobSettings
from app.config.language_model import LanguageModelSettings
from app.config.recall import (
    ClusterSettings,
    CoreSettings,
    MemorySettings,
    RecallSettings,
    ResidentSettings,
    ShortTermSettings,
)
from app.config.scopes import ScopeSettings
from app.config.service import (
    AuthSettings,
    EmbeddingSettings,
    LogSettings,
    ModelsSettings,
    ServerSettings,
    StorageSettings,
    TokenSettings,
)

ENV_PREFIX = "LAMINA_"
ENV_DELIMITER = "__"


class Settings(BaseSettings):
    """
    The whole configuration. Precedence: explicit arguments, environment, file, default.
    """

    model_config = SettingsConfigDict(
        env_prefix=ENV_PREFIX,
        env_nested_delimiter=ENV_DELIMITER,
        extra="forbid",
        frozen=True,
        validate_default=True,
        use_attribute_docstrings=True,
        hide_input_in_errors=False,
    )

    server: ServerSettings = ServerSettings()
    auth: AuthSettings = AuthSettings()
    storage: StorageSettings = StorageSettings()
    log: LogSettings = LogSettings()
    embedding: EmbeddingSettings = EmbeddingSettings()
    models: ModelsSettings = ModelsSettings()
    llm: LanguageModelSettings = LanguageModelSettings()
    tokens: TokenSettings = TokenSettings()
    short_term: ShortTermSettings = ShortTermSettings()
    memory: MemorySettings = MemorySettings()
    documents: DocumentSettings = DocumentSettings()
    jobs: JobSettings = JobSettings()
    extraction: ExtractionSettings = ExtractionSettings()
    rules: RuleSettings = RuleSettings()
    hygiene: HygieneSettings = HygieneSettings()
    recall: RecallSettings = RecallSettings()
    resident: ResidentSettings = ResidentSettings()
    clusters: ClusterSettings = ClusterSettings()
    core: CoreSettings = CoreSettings()
    context: ContextSettings = ContextSettings()
    scopes: ScopeSettings = ScopeSettings()

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        path = config_path()
        if path is None:
            return (init_settings, env_settings)
        return (init_settings, env_settings, InitSettingsSource(settings_cls, read_config_file(path)))
