-- +goose Up
CREATE TABLE told (
    node_uuid TEXT PRIMARY KEY REFERENCES nodes (uuid) ON DELETE CASCADE,
    doc       TEXT NOT NULL
);

ALTER TABLE nodes ADD COLUMN instance_name TEXT NOT NULL DEFAULT '';
UPDATE nodes SET instance_name = coalesce(doc ->> '$.instance_name', '');
CREATE INDEX nodes_instance_name ON nodes (instance_name) WHERE instance_name <> '';
