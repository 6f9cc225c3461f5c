-- The seq up to which the log was fanned out to webhooks, one row. FanOut locks this
-- row first. Changes that are older than this table are not sent.
CREATE TABLE fanned (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    seq bigint NOT NULL
);
INSERT INTO fanned (seq) SELECT seq FROM log_head;

-- The state of a webhook that has, or had, a delivery, and the process that sends
-- to it. Writers of deliveries lock the row of their webhook first, and those of
-- several in the order of their ids, so that there is no deadlock. (Pruning
-- deliveries and claiming webhooks skip locked rows and do not wait.)
CREATE TABLE endpoint (
    webhook         text COLLATE "C" PRIMARY KEY,
    holder          text,        -- NULL when nobody is
    held_until      timestamptz, -- NULL when nobody is
    failing_since   timestamptz, -- set while the last attempt is one that failed
    last_success_at timestamptz,
    last_failure_at timestamptz
) WITH (fillfactor = 50); -- its rows change all the time, and stay on their pages

-- What is to be sent to a webhook, and what became of it.
CREATE TABLE delivery (
    webhook    text COLLATE "C",
    seq        bigint,
    event      text NOT NULL,
    state      text NOT NULL CHECK (state IN ('pending', 'delivered', 'dead')),
    attempts   integer NOT NULL,
    due_at     timestamptz, -- only while pending
    created_at timestamptz NOT NULL,
    done_at    timestamptz, -- only afterwards
    PRIMARY KEY (webhook, seq)
);

-- What is pending is a small part of what is kept. The first index finds who has
-- waited longest, the second what to send him, in order.
CREATE INDEX delivery_due ON delivery (webhook, due_at) WHERE state = 'pending';
CREATE INDEX delivery_pending ON delivery (webhook, seq, due_at) WHERE state = 'pending';
CREATE INDEX delivery_dead ON delivery (webhook, seq) WHERE state = 'dead';
CREATE INDEX delivery_done ON delivery (done_at) WHERE done_at IS NOT NULL;

-- Every try to deliver. A delivery is tried once at a time, so that an attempt
-- that is told twice is known by its time.
CREATE TABLE attempt (
    webhook text COLLATE "C",
    seq     bigint,
    at      timestamptz,
    status  integer NOT NULL,
    latency bigint NOT NULL, -- microseconds
    error   text NOT NULL,
    excerpt text NOT NULL,
    PRIMARY KEY (webhook, seq, at)
);
