-- The seq up to which the log was fanned out to alerts. It is not a row of fanned: a
-- program that does not know alerts moves all rows of that table. Changes that are older
-- than this table are not sent.
CREATE TABLE fanned_alerts (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    seq INTEGER NOT NULL
);
INSERT INTO fanned_alerts (one, seq) SELECT 1, seq FROM log_head;

-- Of deliveries to the channels of alerts, which are endpoints as webhooks are, and empty
-- in all others. A channel has one delivery of a story, whatever change it is of. A lane
-- is what is sent together, and cause names the alerts that select the change.
ALTER TABLE delivery ADD COLUMN story TEXT NOT NULL DEFAULT '';
ALTER TABLE delivery ADD COLUMN lane TEXT NOT NULL DEFAULT '';
ALTER TABLE delivery ADD COLUMN cause TEXT NOT NULL DEFAULT '';
CREATE UNIQUE INDEX delivery_story ON delivery (webhook, story) WHERE story <> '';

-- Finds those that a clock made that was ahead: see CorrectTimes.
CREATE INDEX delivery_waiting ON delivery (created_at) WHERE state = 'pending' AND lane <> '';
