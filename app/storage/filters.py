"""
A record filter as SQL conditions.
"""

from sqlalchemy import ColumnElement, and_, exists, or_, select

from app.domain.filters import SCOPED_TIERS, RecordFilter
from app.storage.moments import to_micros
from app.storage.tables import record, record_tag


def live_conditions(wanted: RecordFilter) -> list[ColumnElement[bool]]:
    """
    Conditions on `record` for what is alive by the filter's clock: not deleted, not expired, and not superseded unless
    superseded records are asked for.
    """
    clock = to_micros(wanted.clock)
    conditions = [or_(record.c.expires_at.is_(None), record.c.expires_at > clock)]
    if wanted.include_superseded:
        conditions.append(or_(record.c.invalid_at.is_(None), record.c.invalid_reason == "superseded"))
    else:
        conditions.append(
            or_(
                record.c.invalid_at.is_(None),
                and_(record.c.invalid_reason == "superseded", record.c.invalid_at > clock),
            )
        )
    return conditions


def conditions(bank_id: int, wanted: RecordFilter) -> list[ColumnElement[bool]]:
    """
    Conditions on `record` for all that the filter asks of one bank.
    """
    found = [record.c.bank_id == bank_id, *live_conditions(wanted), *_narrowing(bank_id, wanted)]
    if wanted.exclude_ids:
        found.append(record.c.id.not_in(sorted(wanted.exclude_ids)))
    return found


def _narrowing(bank_id: int, wanted: RecordFilter) -> list[ColumnElement[bool]]:
    found: list[ColumnElement[bool]] = [record.c.tier.in_(sorted(wanted.tiers))]
    equal = {
        record.c.category: wanted.category,
        record.c.session_id: wanted.session_id,
        record.c.source: wanted.source,
        record.c.source_id: wanted.source_id,
    }
    found += [column == value for column, value in equal.items() if value is not None]
    if wanted.contacts is not None:
        theirs = [and_(record.c.source == who.platform, record.c.source_id == who.id) for who in wanted.contacts]
        found.append(or_(record.c.tier.not_in(sorted(SCOPED_TIERS)), *theirs))
    if wanted.created_after is not None:
        found.append(record.c.created_at >= to_micros(wanted.created_after))
    if wanted.created_before is not None:
        found.append(record.c.created_at < to_micros(wanted.created_before))
    for tag in sorted(wanted.tags):
        same = (record_tag.c.bank_id == bank_id) & (record_tag.c.tag == tag) & (record_tag.c.seq == record.c.seq)
        found.append(exists(select(record_tag.c.seq).where(same)))
    for key, value in wanted.metadata.items():
        found.append(_metadata_equals(key, value))
    return found


def _metadata_equals(key: str, value: str | float | bool | None) -> ColumnElement[bool]:
    element = record.c.metadata[key]
    same: ColumnElement[bool]
    if value is None:
        same = element.is_(None)
    elif isinstance(value, bool):
        same = element.as_boolean() == value
    elif isinstance(value, (int, float)):
        same = element.as_float() == value
    else:
        same = element.as_string() == value
    return same
