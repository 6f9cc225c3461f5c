-- The newest revision of a record, one row. Writers of records lock it
-- before anything else, as Append locks log_head, and for the same reason.
CREATE TABLE record_head (
    one      boolean PRIMARY KEY DEFAULT true CHECK (one),
    revision bigint NOT NULL
);
INSERT INTO record_head (revision) VALUES (0);

-- What the service keeps for its owner and its callers. One that was taken away
-- stays, empty, so that readers learn of it. Kinds and ids are compared by their
-- bytes, whatever language the database is set to, and so are names below.
CREATE TABLE record (
    kind     text COLLATE "C",
    id       text COLLATE "C",
    body     text NOT NULL,
    revision bigint NOT NULL,
    PRIMARY KEY (kind, id)
);

CREATE UNIQUE INDEX record_revision ON record (kind, revision);

-- Names that may be used once, so that all processes know which were. After
-- its time a name is forgotten: the next claim of any name deletes it.
CREATE TABLE once (
    name  text COLLATE "C" PRIMARY KEY,
    until timestamptz NOT NULL
);

CREATE INDEX once_until ON once (until);

-- When a name was used, beside the records, so that a use is no change of one.
CREATE TABLE use_mark (
    name     text COLLATE "C" PRIMARY KEY,
    first_at timestamptz NOT NULL,
    last_at  timestamptz NOT NULL
);
