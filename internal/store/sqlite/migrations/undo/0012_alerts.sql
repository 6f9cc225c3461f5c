-- An older program sends nothing to channels. What waits for them is not sent any more.
DELETE FROM attempt WHERE (webhook, seq) IN (SELECT webhook, seq FROM delivery WHERE lane <> '')
    OR webhook = 'alert-documents';
DELETE FROM endpoint WHERE webhook IN (SELECT webhook FROM delivery WHERE lane <> '')
    OR webhook IN (SELECT id FROM record WHERE kind = 'alert')
    OR webhook = 'alert-documents';
DELETE FROM delivery WHERE lane <> '' OR webhook = 'alert-documents';
DROP INDEX delivery_waiting;
DROP INDEX delivery_story;
ALTER TABLE delivery DROP COLUMN cause;
ALTER TABLE delivery DROP COLUMN lane;
ALTER TABLE delivery DROP COLUMN story;
DROP TABLE fanned_alerts;
