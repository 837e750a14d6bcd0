-- +goose Up
-- Times are unix microseconds in UTC, 0 for none; absent text is ''.
-- The order of ids is the order of creation.
CREATE TABLE nodes (
    id                     INTEGER PRIMARY KEY AUTOINCREMENT,
    uuid                   TEXT    NOT NULL UNIQUE,
    revision               INTEGER NOT NULL,
    name                   TEXT    NOT NULL,
    driver                 TEXT    NOT NULL,
    provision_state        TEXT    NOT NULL,
    target_provision_state TEXT    NOT NULL,
    power_state            TEXT    NOT NULL,
    target_power_state     TEXT    NOT NULL,
    resource_class         TEXT    NOT NULL,
    conductor_group        TEXT    NOT NULL,
    instance_uuid          TEXT    NOT NULL,
    chassis_uuid           TEXT    NOT NULL,
    owner                  TEXT    NOT NULL,
    lessee                 TEXT    NOT NULL,
    fault                  TEXT    NOT NULL,
    shard                  TEXT    NOT NULL,
    parent_node            TEXT    NOT NULL,
    description_lower      TEXT    NOT NULL,
    maintenance            INTEGER NOT NULL,
    retired                INTEGER NOT NULL,
    protected              INTEGER NOT NULL,
    created_at             INTEGER NOT NULL,
    updated_at             INTEGER NOT NULL,
    provision_updated_at   INTEGER NOT NULL,
    inspection_started_at  INTEGER NOT NULL,
    inspection_finished_at INTEGER NOT NULL,
    deadline               INTEGER NOT NULL,
    doc                    TEXT    NOT NULL
);
CREATE UNIQUE INDEX nodes_name ON nodes (name) WHERE name <> '';
CREATE UNIQUE INDEX nodes_instance ON nodes (instance_uuid) WHERE instance_uuid <> '';
CREATE INDEX nodes_deadline ON nodes (deadline, id) WHERE deadline > 0;
CREATE INDEX nodes_state ON nodes (provision_state);

CREATE TABLE ports (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    uuid      TEXT NOT NULL UNIQUE,
    node_uuid TEXT NOT NULL REFERENCES nodes (uuid) ON DELETE CASCADE,
    address   TEXT NOT NULL UNIQUE,
    doc       TEXT NOT NULL
);
CREATE INDEX ports_node ON ports (node_uuid, id);

-- AUTOINCREMENT: an id is never used twice, so that a fence holds for ever.
CREATE TABLE effects (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    node        TEXT    NOT NULL REFERENCES nodes (uuid) ON DELETE CASCADE,
    generation  INTEGER NOT NULL,
    name        TEXT    NOT NULL,
    args        TEXT    NOT NULL,
    run_at      INTEGER NOT NULL,
    owner       TEXT    NOT NULL DEFAULT '',
    attempt     INTEGER NOT NULL DEFAULT 0,
    lease_until INTEGER NOT NULL DEFAULT 0,
    error       TEXT    NOT NULL DEFAULT ''
);
CREATE UNIQUE INDEX effects_one_per_node ON effects (node);
CREATE INDEX effects_due ON effects (run_at, id);

CREATE TABLE history (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    node_uuid TEXT NOT NULL REFERENCES nodes (uuid) ON DELETE CASCADE,
    doc       TEXT NOT NULL
);
CREATE INDEX history_node ON history (node_uuid, id);

CREATE TABLE inspected (
    node_uuid   TEXT PRIMARY KEY REFERENCES nodes (uuid) ON DELETE CASCADE,
    inventory   TEXT NOT NULL,
    plugin_data TEXT NOT NULL
);

CREATE TABLE leases (
    mac     TEXT    PRIMARY KEY,
    ip      TEXT    NOT NULL UNIQUE,
    static  INTEGER NOT NULL,
    expires INTEGER NOT NULL
);
