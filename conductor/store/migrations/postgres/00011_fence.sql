-- +goose Up
-- A write holds the advisory lock of its group's row, shared with other writes, before it looks at the epoch; whoever
-- changes an epoch takes the lock alone. So a new epoch waits for writes that are under way, and later ones see it.
-- Locks of the row itself cost a write to the row, and the more the more writes there are at a time.
-- +goose StatementBegin
CREATE FUNCTION leader_epoch() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock((TG_RELID::bigint << 32) | (hashtext(OLD.conductor_group)::bigint & 4294967295));
    RETURN NEW;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER leader_epoch BEFORE UPDATE OF epoch ON leader FOR EACH ROW EXECUTE FUNCTION leader_epoch();
