"""
Every setting: its meaning, unit, range and default, and how a file and the environment override it.

`config.yaml`, the README's table and `lamina config show` are made from these models; a test keeps them equal.
"""

from app.config.consolidation import ExtractionSettings, HygieneSettings, NoiseSettings, RuleSettings
from app.config.context import ContextSettings, ProfileSettings, SectionSettings
from app.config.documents import DocumentSettings
from app.config.file import CONFIG_PATH_ENV, DEFAULT_CONFIG_FILE, config_path
from app.config.jobs import JobSettings
from app.config.language_model import (
    BreakerSettings,
    LanguageModelSettings,
    ModelBudgetSettings,
    ModelSettings,
    TaskModelSettings,
    TaskName,
)
from app.config.load import API_KEY_ENV, load_settings
from app.config.recall import (
    ClusterSettings,
    CoreSettings,
    FusedSettings,
    MemorySettings,
    RecallSettings,
    ResidentSettings,
    ShortTermSettings,
)
from app.config.scopes import ScopeSettings
from app.config.section import Section
from app.config.service import (
    AuthSettings,
    EmbeddingSettings,
    KeySettings,
    LogSettings,
    ModelsSettings,
    ServerSettings,
    StorageSettings,
    TokenSettings,
)
from app.config.settings import ENV_PREFIX, Settings

__all__ = [
    "API_KEY_ENV",
    "CONFIG_PATH_ENV",
    "DEFAULT_CONFIG_FILE",
    "ENV_PREFIX",
    "AuthSettings",
    "BreakerSettings",
    "ClusterSettings",
    "ContextSettings",
    "CoreSettings",
    "DocumentSettings",
    "EmbeddingSettings",
    "ExtractionSettings",
    "FusedSettings",
    "HygieneSettings",
    "JobSettings",
    "KeySettings",
    "LanguageModelSettings",
    "LogSettings",
    "MemorySettings",
    "ModelBudgetSettings",
    "ModelSettings",
    "ModelsSettings",
    "NoiseSettings",
    "ProfileSettings",
    "RecallSettings",
    "ResidentSettings",
    "RuleSettings",
    "ScopeSettings",
    "Section",
    "SectionSettings",
    "ServerSettings",
    "Settings",
    "ShortTermSettings",
    "StorageSettings",
    "TaskModelSettings",
    "TaskName",
    "TokenSettings",
    "config_path",
    "load_settings",
]
