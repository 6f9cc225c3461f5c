-- The log and what stands beside it. Package store says what it promises; the
-- comments here say how this schema keeps it.

-- The version of this schema, in a table of one row: the primary key admits
-- one value only. The program sets the number after each migration, in the
-- same transaction.
CREATE TABLE schema_version (
    one     boolean PRIMARY KEY DEFAULT true CHECK (one),
    version integer NOT NULL
);
INSERT INTO schema_version (version) VALUES (0);

-- The newest seq of the log, one row. Append locks this row before
-- anything else and holds it until the commit. A sequence would not do: it
-- hands out numbers before the commit, in another order than that of commits,
-- and keeps the gap of a rollback.
CREATE TABLE log_head (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    seq bigint NOT NULL
);
INSERT INTO log_head (seq) VALUES (0);

-- The log itself: only ever appended to. The body is json and not jsonb, which
-- would reorder and respace it: a replay sends the very bytes that were written.
CREATE TABLE change (
    seq         bigint PRIMARY KEY,
    event       text NOT NULL,
    subject     text NOT NULL,
    occurred_at timestamptz NOT NULL,
    changed     text NOT NULL,
    body        json NOT NULL
);

-- The newest change of every filing and of every issuer. They hold a number
-- and no record, so that nothing can disagree with the log. They are two
-- tables because the ids of the two are independent. No foreign key: checking
-- it would lock, and so rewrite, every row of the log just written, and only
-- one statement of the program writes here.
CREATE TABLE report (
    id  text PRIMARY KEY,
    seq bigint NOT NULL
);
CREATE TABLE issuer (
    id  text PRIMARY KEY,
    seq bigint NOT NULL
);

-- Who does a job that one process at a time may do. A row is never deleted,
-- since its term must never start again; a lease given back has no holder.
CREATE TABLE lease (
    name       text PRIMARY KEY,
    holder     text,
    term       bigint NOT NULL,
    expires_at timestamptz NOT NULL
);

-- What is decided once for the life of the store: where its filings come from.
CREATE TABLE setting (
    name  text PRIMARY KEY,
    value text NOT NULL
);
