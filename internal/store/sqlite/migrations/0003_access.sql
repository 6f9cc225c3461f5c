-- The counter of records, as log_head is of the log.
CREATE TABLE record_head (
    one      INTEGER PRIMARY KEY CHECK (one = 1),
    revision INTEGER NOT NULL
);
INSERT INTO record_head (one, revision) VALUES (1, 0);

-- What the service keeps for its owner and its callers. One that was taken away
-- stays, empty, so that readers learn of it.
CREATE TABLE record (
    kind     TEXT    NOT NULL,
    id       TEXT    NOT NULL,
    body     TEXT    NOT NULL,
    revision INTEGER NOT NULL,
    PRIMARY KEY (kind, id)
) WITHOUT ROWID;

CREATE UNIQUE INDEX record_revision ON record (kind, revision);

-- Names that may be used once, so that all processes know which were. After
-- its time a name is forgotten: the next claim of any name deletes it.
CREATE TABLE once (
    name  TEXT    PRIMARY KEY,
    until INTEGER NOT NULL -- microseconds from 1970, UTC
) WITHOUT ROWID;

CREATE INDEX once_until ON once (until);

-- When a name was used, beside the records, so that a use is no change of one.
CREATE TABLE use_mark (
    name     TEXT    PRIMARY KEY,
    first_at INTEGER NOT NULL, -- microseconds from 1970, UTC
    last_at  INTEGER NOT NULL
) WITHOUT ROWID;
