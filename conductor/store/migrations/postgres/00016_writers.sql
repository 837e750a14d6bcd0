-- +goose Up
-- The cut of a conductor proves that entries before it were pruned: without its row the audit seems to miss them.
CREATE TRIGGER audit_writers_stay BEFORE DELETE OR TRUNCATE ON audit_writers EXECUTE FUNCTION audit_stays();
