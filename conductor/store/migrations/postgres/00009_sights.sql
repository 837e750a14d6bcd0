-- +goose Up
-- What conductors that share the database have seen of a machine, beside its node's record: stages of its boot, and
-- progress of a step, as JSON.
CREATE TABLE sights (
    node_uuid TEXT COLLATE "C" NOT NULL CONSTRAINT "sights.node_uuid" PRIMARY KEY REFERENCES nodes (uuid) ON DELETE CASCADE,
    doc       TEXT NOT NULL
);
