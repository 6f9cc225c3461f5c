-- The program refuses to undo this while the log has positions.
DROP TABLE sealed_name;
DROP TABLE position;
