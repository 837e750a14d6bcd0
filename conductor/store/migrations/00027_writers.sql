-- +goose Up
-- The cut of a conductor proves that entries before it were pruned: without its row the audit seems to miss them.
-- +goose StatementBegin
CREATE TRIGGER audit_writers_stay BEFORE DELETE ON audit_writers
BEGIN SELECT raise(ABORT, 'the audit is only added to: its writers stay'); END;
-- +goose StatementEnd
