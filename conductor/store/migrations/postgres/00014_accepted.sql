-- +goose Up
-- What of a pending effect its peer has accepted, and when: it is not asked for again.
ALTER TABLE effects ADD COLUMN accepted TEXT NOT NULL DEFAULT '';
