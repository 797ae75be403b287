"""
Schema revisions, applied in order by `app.storage.migrate`.
"""
