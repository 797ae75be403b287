"""
A database of before entities and contacts is filled from what its records say.
"""

from pathlib import Path

from alembic import command

from app.config import StorageSettings
from app.storage import contacts, entities, migrate
from app.storage.engine import Storage

_RECORD = """
INSERT INTO record (bank_id, seq, id, tier, text, created_at, created_offset, updated_at, source, source_id, category,
                    tags, entities, clusters, metadata, confidence, pinned, observations, access_count, revision,
                    invalid_at, changed)
VALUES (1, ?, ?, ?, 'text', ?, 0, 1, ?, ?, 'general', '[]', '[]', '[]', '{}', 1.0, 0, 1, 0, 1, ?, 1)
"""


def test_t04_b45_older_records_have_their_names_and_contacts(tmp_path: Path) -> None:
    storage = Storage(StorageSettings(data_dir=tmp_path))
    with storage.writer_engine.begin() as connection:
        command.upgrade(migrate.alembic_config(connection), "0005")
        connection.exec_driver_sql(
            "INSERT INTO bank (bank_id, name, description, settings, revision, version, epoch, next_seq, live_units,"
            " live_terms, total_accesses, created_at, updated_at) VALUES (1, 'a', '', '{}', 0, 0, 0, 9, 0, 0, 0, 1, 1)"
        )
        for seq, tier, at, source, source_id, invalid_at in (
            (1, "entry", 10, "telegram", "a:b", None),
            (2, "entry", 20, "telegram", "a:b", None),
            (3, "memory", 30, "explicit", None, None),
            (4, "memory", 40, "explicit", None, 50),
            (5, "document", 60, None, None, None),
        ):
            connection.exec_driver_sql(_RECORD, (seq, f"r-{seq}", tier, at, source, source_id, invalid_at))
        for handle, seq in (("ana", 1), ("ana", 3), ("lisbon", 2), ("gone", 4), ("title", 5)):
            connection.exec_driver_sql(
                "INSERT INTO record_entity (bank_id, handle, seq) VALUES (1, ?, ?)", (handle, seq)
            )
    migrate.upgrade(storage.writer_engine)
    with storage.writer_engine.begin() as connection:
        found, total = entities.page(connection, 1, None, None, 10, 0)
        assert ([item.name for item in found], total) == (["ana", "lisbon"], 2)
        assert [item.names[0].vouched for item in found] == [True, False]
        (contact,), _ = contacts.page(connection, 1, None, 10, 0)
        assert (contact.address, contact.last_seen_at and contact.last_seen_at.microsecond) == (("telegram", "a:b"), 20)
    assert migrate.pending_changes(storage.writer_engine) == []
    storage.close()
