-- +goose Up
-- An allocation goes with its node, and a node has one at the most.
CREATE TABLE allocations (
    id             INTEGER PRIMARY KEY AUTOINCREMENT,
    uuid           TEXT    NOT NULL UNIQUE,
    name           TEXT    UNIQUE,
    node_uuid      TEXT    UNIQUE REFERENCES nodes (uuid) ON DELETE CASCADE,
    state          TEXT,
    resource_class TEXT,
    owner          TEXT,
    revision       INTEGER NOT NULL,
    doc            TEXT    NOT NULL
);
CREATE INDEX allocations_state ON allocations (state);
