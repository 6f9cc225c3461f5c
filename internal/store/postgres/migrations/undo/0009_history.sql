DROP INDEX change_subject;
