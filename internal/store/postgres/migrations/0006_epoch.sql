-- Which log it is: after a restored backup the same numbers are drawn again, and
-- the epoch is renewed. past has the epochs before it, as disclosure.FormatPast
-- writes them. Programs that do not know these columns may go on appending.
ALTER TABLE log_head ADD COLUMN epoch text NOT NULL DEFAULT '', ADD COLUMN past text NOT NULL DEFAULT '';
UPDATE log_head SET epoch = left(replace(gen_random_uuid()::text, '-', ''), 12);

-- The epoch in which a delivery was made, which is a part of its id; empty in
-- those that are older than epochs.
ALTER TABLE delivery ADD COLUMN epoch text NOT NULL DEFAULT '';
