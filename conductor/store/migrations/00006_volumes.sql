-- +goose Up
-- identity: type and connector_id. place: node and boot index.
CREATE TABLE volume_connectors (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    uuid      TEXT    NOT NULL UNIQUE,
    node_uuid TEXT    NOT NULL REFERENCES nodes (uuid) ON DELETE CASCADE,
    identity  TEXT    NOT NULL UNIQUE,
    revision  INTEGER NOT NULL,
    doc       TEXT    NOT NULL
);
CREATE INDEX volume_connectors_node ON volume_connectors (node_uuid, id);

CREATE TABLE volume_targets (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    uuid      TEXT    NOT NULL UNIQUE,
    node_uuid TEXT    NOT NULL REFERENCES nodes (uuid) ON DELETE CASCADE,
    place     TEXT    NOT NULL UNIQUE,
    revision  INTEGER NOT NULL,
    doc       TEXT    NOT NULL
);
CREATE INDEX volume_targets_node ON volume_targets (node_uuid, id);
