"""
Alembic's entry: runs the revisions on the connection that the caller holds.
"""

from alembic import context

from app.storage.tables import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    transactional_ddl=False,  # the caller's transaction spans all revisions
    render_as_batch=True,
)
context.run_migrations()
