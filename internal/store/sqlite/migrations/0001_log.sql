-- The counter of the log. One row: Append holds the write lock of the
-- database, so numbers are drawn in the order of commits and a rollback gives
-- them back.
CREATE TABLE log_head (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    seq INTEGER NOT NULL
);
INSERT INTO log_head (one, seq) VALUES (1, 0);

-- The log. The body is the whole record as it then was, kept to the byte.
CREATE TABLE change (
    seq         INTEGER PRIMARY KEY,
    event       TEXT    NOT NULL,
    subject     TEXT    NOT NULL,
    occurred_at INTEGER NOT NULL, -- microseconds from 1970, UTC
    changed     TEXT    NOT NULL,
    body        TEXT    NOT NULL
);

-- The newest change of every filing and issuer. The record itself lives in
-- the log only, so that there is no second copy to disagree with it.
CREATE TABLE report (
    id  TEXT    PRIMARY KEY,
    seq INTEGER NOT NULL REFERENCES change (seq)
) WITHOUT ROWID;

CREATE TABLE issuer (
    id  TEXT    PRIMARY KEY,
    seq INTEGER NOT NULL REFERENCES change (seq)
) WITHOUT ROWID;

-- Who may do a job that only one process may do. The term rises with every
-- new holder and fences off the old one.
CREATE TABLE lease (
    name       TEXT    PRIMARY KEY,
    holder     TEXT    NOT NULL,
    term       INTEGER NOT NULL,
    expires_at INTEGER NOT NULL -- microseconds from 1970, UTC; 0 when given back
) WITHOUT ROWID;

CREATE TABLE setting (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;
