-- How far the log was handed out to webhooks. What is older than this table is
-- nobody's to be sent.
CREATE TABLE fanned (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    seq INTEGER NOT NULL
);
INSERT INTO fanned (one, seq) SELECT 1, seq FROM log_head;

-- What is known of a webhook that has, or had, a delivery, and who is at work
-- on it. Times are microseconds from 1970, UTC, here and below.
CREATE TABLE endpoint (
    webhook         TEXT    PRIMARY KEY,
    holder          TEXT,             -- NULL when nobody is
    held_until      INTEGER NOT NULL DEFAULT 0,
    failing_since   INTEGER,          -- set while the last attempt is one that failed
    last_success_at INTEGER,
    last_failure_at INTEGER
) WITHOUT ROWID;

-- What is to be sent to a webhook, and what became of it.
CREATE TABLE delivery (
    webhook    TEXT    NOT NULL,
    seq        INTEGER NOT NULL,
    event      TEXT    NOT NULL,
    state      TEXT    NOT NULL CHECK (state IN ('pending', 'delivered', 'dead')),
    attempts   INTEGER NOT NULL,
    due_at     INTEGER,          -- only while pending
    created_at INTEGER NOT NULL,
    done_at    INTEGER,          -- only afterwards
    PRIMARY KEY (webhook, seq)
) WITHOUT ROWID;

-- What is pending is a small part of what is kept. The first index finds who has
-- waited longest, the second what to send him, in order.
CREATE INDEX delivery_due ON delivery (webhook, due_at) WHERE state = 'pending';
CREATE INDEX delivery_pending ON delivery (webhook, seq, due_at) WHERE state = 'pending';
CREATE INDEX delivery_dead ON delivery (webhook, seq) WHERE state = 'dead';
CREATE INDEX delivery_done ON delivery (done_at) WHERE done_at IS NOT NULL;

-- Every try to deliver. A delivery is tried once at a time, so that an attempt
-- that is told twice is known by its time.
CREATE TABLE attempt (
    webhook TEXT    NOT NULL,
    seq     INTEGER NOT NULL,
    at      INTEGER NOT NULL,
    status  INTEGER NOT NULL,
    latency INTEGER NOT NULL, -- microseconds
    error   TEXT    NOT NULL,
    excerpt TEXT    NOT NULL,
    PRIMARY KEY (webhook, seq, at)
) WITHOUT ROWID;
