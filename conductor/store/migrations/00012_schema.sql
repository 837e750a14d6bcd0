-- +goose Up
-- The schema of v0.1, of which the versions up to 12 are one.
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
    doc                    TEXT    NOT NULL,
    instance_name          TEXT    NOT NULL DEFAULT '',
    chassis                TEXT    GENERATED ALWAYS AS (NULLIF(chassis_uuid, '')) VIRTUAL REFERENCES chassis (uuid)
);
CREATE UNIQUE INDEX nodes_name ON nodes (name) WHERE name <> '';
CREATE UNIQUE INDEX nodes_instance ON nodes (instance_uuid) WHERE instance_uuid <> '';
CREATE INDEX nodes_deadline ON nodes (deadline, id) WHERE deadline > 0;
CREATE INDEX nodes_state ON nodes (provision_state);
CREATE INDEX nodes_instance_name ON nodes (instance_name) WHERE instance_name <> '';
CREATE INDEX nodes_chassis ON nodes (chassis) WHERE chassis IS NOT NULL;

-- A page of a large site by any one filter, or by the usual sort keys, takes a
-- walk along an index. Each has the row's id at its end, which is the order of
-- creation. Only nodes_updated is touched by a save that leaves alone what
-- operators set (see saveNode). Where most nodes have nothing, nothing is not in
-- the index.
CREATE INDEX nodes_driver          ON nodes (driver);
CREATE INDEX nodes_resource_class  ON nodes (resource_class);
CREATE INDEX nodes_conductor_group ON nodes (conductor_group) WHERE conductor_group <> '';
CREATE INDEX nodes_owner           ON nodes (owner) WHERE owner <> '';
CREATE INDEX nodes_lessee          ON nodes (lessee) WHERE lessee <> '';
CREATE INDEX nodes_fault           ON nodes (fault) WHERE fault <> '';
CREATE INDEX nodes_shard           ON nodes (shard);
CREATE INDEX nodes_sharded         ON nodes ((shard <> ''));
CREATE INDEX nodes_associated      ON nodes ((instance_uuid <> ''));
CREATE INDEX nodes_maintenance     ON nodes (maintenance);
CREATE INDEX nodes_retired         ON nodes (retired);
CREATE INDEX nodes_parent          ON nodes (parent_node) WHERE parent_node <> '';
CREATE INDEX nodes_by_name         ON nodes (name);
CREATE INDEX nodes_created         ON nodes (created_at);
CREATE INDEX nodes_updated         ON nodes (updated_at);

-- A portgroup is named by the document alone: its column makes it exist and stay. NULL for none.
CREATE TABLE ports (
    id                INTEGER PRIMARY KEY AUTOINCREMENT,
    uuid              TEXT NOT NULL UNIQUE,
    node_uuid         TEXT NOT NULL REFERENCES nodes (uuid) ON DELETE CASCADE,
    address           TEXT NOT NULL UNIQUE,
    doc               TEXT NOT NULL,
    name              TEXT GENERATED ALWAYS AS (doc ->> '$.name') VIRTUAL,
    portgroup_uuid    TEXT GENERATED ALWAYS AS (doc ->> '$.portgroup_uuid') VIRTUAL REFERENCES portgroups (uuid),
    description_lower TEXT NOT NULL DEFAULT ''
);
CREATE INDEX ports_node ON ports (node_uuid, id);
CREATE UNIQUE INDEX ports_name ON ports (name);
CREATE INDEX ports_portgroup ON ports (portgroup_uuid, id);

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

CREATE TABLE deploy_templates (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    uuid     TEXT    NOT NULL UNIQUE,
    name     TEXT    NOT NULL UNIQUE,
    revision INTEGER NOT NULL,
    doc      TEXT    NOT NULL
);

CREATE TABLE runbooks (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    uuid     TEXT    NOT NULL UNIQUE,
    name     TEXT    NOT NULL UNIQUE,
    revision INTEGER NOT NULL,
    doc      TEXT    NOT NULL
);

CREATE TABLE told (
    node_uuid TEXT PRIMARY KEY REFERENCES nodes (uuid) ON DELETE CASCADE,
    doc       TEXT NOT NULL
);

CREATE TABLE chassis (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    uuid     TEXT    NOT NULL UNIQUE,
    revision INTEGER NOT NULL,
    doc      TEXT    NOT NULL
);

CREATE TABLE portgroups (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    uuid      TEXT    NOT NULL UNIQUE,
    name      TEXT    UNIQUE,
    address   TEXT    UNIQUE,
    node_uuid TEXT    NOT NULL REFERENCES nodes (uuid) ON DELETE CASCADE,
    revision  INTEGER NOT NULL,
    doc       TEXT    NOT NULL
);
CREATE INDEX portgroups_node ON portgroups (node_uuid, id);

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

-- An allocation goes with its node, and a node has one at the most.
CREATE TABLE allocations (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    uuid      TEXT    NOT NULL UNIQUE,
    name      TEXT    UNIQUE,
    node_uuid TEXT    UNIQUE REFERENCES nodes (uuid) ON DELETE CASCADE,
    state     TEXT,
    revision  INTEGER NOT NULL,
    doc       TEXT    NOT NULL
);
CREATE INDEX allocations_state ON allocations (state);

CREATE TABLE inspection_rules (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    uuid     TEXT    NOT NULL UNIQUE,
    phase    TEXT,
    revision INTEGER NOT NULL,
    doc      TEXT    NOT NULL
);

CREATE TABLE erase_reports (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    uuid     TEXT    NOT NULL UNIQUE,
    of_node  TEXT    NOT NULL,
    revision INTEGER NOT NULL,
    doc      TEXT    NOT NULL
);
CREATE INDEX erase_reports_of_node ON erase_reports (of_node);

-- The documents of hosts. Owners are UIDs with a space on either side of each.
CREATE TABLE objects (
    kind      TEXT    NOT NULL,
    namespace TEXT    NOT NULL,
    name      TEXT    NOT NULL,
    uid       TEXT    NOT NULL UNIQUE,
    revision  INTEGER NOT NULL,
    owners    TEXT    NOT NULL,
    doc       BLOB    NOT NULL,
    PRIMARY KEY (kind, namespace, name)
);
CREATE INDEX objects_owned ON objects (namespace, owners) WHERE owners <> '';
CREATE TABLE objects_revision (revision INTEGER NOT NULL);
INSERT INTO objects_revision VALUES (0);
