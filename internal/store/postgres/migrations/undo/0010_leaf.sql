-- The program computes the hashes again from the log.
DROP TABLE leaf;
ALTER TABLE log_head DROP COLUMN leaves;
