"""
Bringing a database to the present schema with Alembic, also where two processes start at once.
"""

from importlib.resources import files

from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine

from app.errors import StorageError
from app.storage import (  # noqa: F401 - their tables belong to the metadata
    consolidation_tables,
    contact_tables,
    entity_tables,
    job_tables,
)
from app.storage.tables import metadata


def alembic_config(connection: Connection | None = None) -> Config:
    """
    Alembic's configuration for the migrations that this project ships, bound to `connection` if one is given.
    """
    config = Config()
    config.set_main_option("script_location", str(files("migrations")))
    config.attributes["connection"] = connection
    return config


def upgrade(engine: Engine) -> tuple[str | None, str]:
    """
    Apply what is missing, in one transaction that holds the write lock; returns the revisions before and after.

    Raises:
        StorageError: when the database was written by a newer version of this project.
    """
    with engine.begin() as connection:
        before = current_revision(connection)
        known = {script.revision for script in ScriptDirectory.from_config(alembic_config()).walk_revisions()}
        if before is not None and before not in known:
            raise StorageError(
                f"the database has schema revision {before}, which this version does not know; it is newer"
            )
        command.upgrade(alembic_config(connection), "head")
        return before, current_revision(connection) or ""


def current_revision(connection: Connection) -> str | None:
    """
    The schema revision that the database is at; None for an empty one.
    """
    return MigrationContext.configure(connection).get_current_revision()


def pending_changes(engine: Engine) -> list[str]:
    """
    What the tables in code have that the database has not, or the other way round; empty when they agree.
    """
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"target_metadata": metadata})
        return [str(change) for change in compare_metadata(context, metadata)]


def newest_revision() -> str | None:
    """
    The schema revision that this version of the project wants.
    """
    return ScriptDirectory.from_config(alembic_config()).get_current_head()
