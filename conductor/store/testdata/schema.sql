CREATE TABLE allocations (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    uuid      TEXT    NOT NULL UNIQUE,
    name      TEXT    UNIQUE,
    node_uuid TEXT    UNIQUE REFERENCES nodes (uuid) ON DELETE CASCADE,
    state     TEXT,
    revision  INTEGER NOT NULL,
    doc       TEXT    NOT NULL
, owner TEXT);
CREATE INDEX allocations_owner ON allocations (owner) WHERE owner IS NOT NULL;
CREATE INDEX allocations_state ON allocations (state);
CREATE TRIGGER audit_keeps BEFORE DELETE ON audit
WHEN NOT EXISTS (SELECT 1 FROM audit_writers w WHERE w.writer = OLD.writer AND OLD.id <= w.cut)
BEGIN SELECT raise(ABORT, 'the audit is only added to, and pruned with ferrite audit prune'); END;
CREATE TRIGGER audit_stays BEFORE UPDATE ON audit BEGIN SELECT raise(ABORT, 'the audit is only added to'); END;
CREATE TABLE audit (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    at        INTEGER NOT NULL,
    writer    TEXT    NOT NULL,
    chain     TEXT    NOT NULL,
    number    INTEGER NOT NULL,
    hash      TEXT    NOT NULL,
    node_uuid TEXT    NOT NULL,
    doc       TEXT    NOT NULL,
    UNIQUE (chain, number)
);
CREATE INDEX audit_node ON audit (node_uuid, id) WHERE node_uuid <> '';
CREATE INDEX audit_writer ON audit (writer, id);
CREATE TRIGGER audit_cut BEFORE UPDATE OF writer, cut, chain, number, hash, stub ON audit_writers
WHEN NEW.writer <> OLD.writer OR NEW.cut < OLD.cut OR NEW.stub <= NEW.cut
    OR NOT EXISTS (SELECT 1 FROM audit s WHERE s.id = NEW.stub AND instr(s.doc, '"hash":"' || NEW.hash || '"') > 0)
BEGIN SELECT raise(ABORT, 'a cut of the audit needs an entry that names it'); END;
CREATE TRIGGER audit_first_cut BEFORE INSERT ON audit_writers
WHEN NEW.cut <> 0 AND (NEW.stub <= NEW.cut
    OR NOT EXISTS (SELECT 1 FROM audit s WHERE s.id = NEW.stub AND instr(s.doc, '"hash":"' || NEW.hash || '"') > 0))
BEGIN SELECT raise(ABORT, 'a cut of the audit needs an entry that names it'); END;
CREATE TRIGGER audit_writers_stay BEFORE DELETE ON audit_writers
BEGIN SELECT raise(ABORT, 'the audit is only added to: its writers stay'); END;
CREATE TABLE audit_writers (
    writer  TEXT    PRIMARY KEY,
    entries INTEGER NOT NULL,
    bytes   INTEGER NOT NULL,
    cut     INTEGER NOT NULL DEFAULT 0,
    chain   TEXT    NOT NULL DEFAULT '',
    number  INTEGER NOT NULL DEFAULT 0,
    hash    TEXT    NOT NULL DEFAULT '',
    stub    INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE chassis (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    uuid     TEXT    NOT NULL UNIQUE,
    revision INTEGER NOT NULL,
    doc      TEXT    NOT NULL
);
CREATE TABLE declines (
    subnet   TEXT    NOT NULL,
    ip       TEXT    NOT NULL,
    mac      TEXT    NOT NULL,
    stranger INTEGER NOT NULL,
    until    INTEGER NOT NULL,
    PRIMARY KEY (subnet, ip)
);
CREATE TABLE deploy_templates (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    uuid     TEXT    NOT NULL UNIQUE,
    name     TEXT    NOT NULL UNIQUE,
    revision INTEGER NOT NULL,
    doc      TEXT    NOT NULL
, sealed BLOB);
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
, sealed BLOB, accepted TEXT NOT NULL DEFAULT '');
CREATE INDEX effects_due ON effects (run_at, id);
CREATE UNIQUE INDEX effects_one_per_node ON effects (node);
CREATE TABLE erase_reports (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    uuid     TEXT    NOT NULL UNIQUE,
    of_node  TEXT    NOT NULL,
    revision INTEGER NOT NULL,
    doc      TEXT    NOT NULL
);
CREATE INDEX erase_reports_of_node ON erase_reports (of_node);
CREATE TABLE event_log (
    id   TEXT    NOT NULL,
    gone INTEGER NOT NULL
);
CREATE TABLE event_readers (
    name     TEXT    PRIMARY KEY,
    position INTEGER NOT NULL
);
CREATE TABLE events (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    at              INTEGER NOT NULL,
    type            TEXT    NOT NULL,
    node_uuid       TEXT    NOT NULL,
    conductor_group TEXT    NOT NULL,
    owner           TEXT    NOT NULL,
    lessee          TEXT    NOT NULL,
    doc             TEXT    NOT NULL
);
CREATE TABLE goose_db_version (
		id INTEGER PRIMARY KEY AUTOINCREMENT,
		version_id INTEGER NOT NULL,
		is_applied INTEGER NOT NULL,
		tstamp TIMESTAMP DEFAULT (datetime('now'))
	);
CREATE TABLE history (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    node_uuid TEXT NOT NULL REFERENCES nodes (uuid) ON DELETE CASCADE,
    doc       TEXT NOT NULL
);
CREATE INDEX history_node ON history (node_uuid, id);
CREATE TABLE holds (
    id     INTEGER PRIMARY KEY CHECK (id = 1),
    since  INTEGER NOT NULL,
    backup INTEGER NOT NULL
);
CREATE TABLE "images" (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    uuid       TEXT    NOT NULL UNIQUE,
    name       TEXT    NOT NULL,
    owner_name TEXT    NOT NULL UNIQUE,
    digest     TEXT    NOT NULL,
    revision   INTEGER NOT NULL,
    doc        TEXT    NOT NULL
);
CREATE INDEX images_digest ON images (digest);
CREATE INDEX images_name ON images (name);
CREATE TABLE inspected (
    node_uuid   TEXT PRIMARY KEY REFERENCES nodes (uuid) ON DELETE CASCADE,
    inventory   TEXT NOT NULL,
    plugin_data TEXT NOT NULL
);
CREATE TABLE inspection_rules (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    uuid     TEXT    NOT NULL UNIQUE,
    phase    TEXT,
    revision INTEGER NOT NULL,
    doc      TEXT    NOT NULL
, sealed BLOB);
CREATE TABLE "leases" (
    mac     TEXT    PRIMARY KEY,
    subnet  TEXT    NOT NULL,
    ip      TEXT    NOT NULL,
    static  INTEGER NOT NULL,
    expires INTEGER NOT NULL,
    UNIQUE (subnet, ip)
);
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
, sealed BLOB, machine TEXT NOT NULL DEFAULT '', console_enabled INTEGER NOT NULL DEFAULT 0);
CREATE INDEX nodes_associated      ON nodes ((instance_uuid <> ''));
CREATE INDEX nodes_by_name         ON nodes (name);
CREATE INDEX nodes_chassis ON nodes (chassis) WHERE chassis IS NOT NULL;
CREATE INDEX nodes_conductor_group ON nodes (conductor_group) WHERE conductor_group <> '';
CREATE INDEX nodes_console_enabled ON nodes (conductor_group, driver) WHERE console_enabled;
CREATE INDEX nodes_created         ON nodes (created_at);
CREATE INDEX nodes_deadline ON nodes (deadline, id) WHERE deadline > 0;
CREATE INDEX nodes_driver          ON nodes (driver);
CREATE INDEX nodes_fault           ON nodes (fault) WHERE fault <> '';
CREATE UNIQUE INDEX nodes_instance ON nodes (instance_uuid) WHERE instance_uuid <> '';
CREATE INDEX nodes_instance_name ON nodes (instance_name) WHERE instance_name <> '';
CREATE INDEX nodes_lessee          ON nodes (lessee) WHERE lessee <> '';
CREATE UNIQUE INDEX nodes_machine ON nodes (machine) WHERE machine <> '';
CREATE INDEX nodes_maintenance     ON nodes (maintenance);
CREATE UNIQUE INDEX nodes_name ON nodes (name) WHERE name <> '';
CREATE INDEX nodes_owner           ON nodes (owner) WHERE owner <> '';
CREATE INDEX nodes_parent          ON nodes (parent_node) WHERE parent_node <> '';
CREATE INDEX nodes_resource_class  ON nodes (resource_class);
CREATE INDEX nodes_retired         ON nodes (retired);
CREATE INDEX nodes_shard           ON nodes (shard);
CREATE INDEX nodes_sharded         ON nodes ((shard <> ''));
CREATE INDEX nodes_state ON nodes (provision_state);
CREATE INDEX nodes_updated         ON nodes (updated_at);
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
CREATE UNIQUE INDEX ports_name ON ports (name);
CREATE INDEX ports_node ON ports (node_uuid, id);
CREATE INDEX ports_portgroup ON ports (portgroup_uuid, id);
CREATE TABLE runbooks (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    uuid     TEXT    NOT NULL UNIQUE,
    name     TEXT    NOT NULL UNIQUE,
    revision INTEGER NOT NULL,
    doc      TEXT    NOT NULL
, sealed BLOB, owner TEXT);
CREATE INDEX runbooks_owner ON runbooks (owner) WHERE owner IS NOT NULL;
CREATE TABLE sealing (
    key  TEXT    PRIMARY KEY,
    done INTEGER NOT NULL
);
CREATE TABLE sqlite_sequence(name,seq);
CREATE TABLE told (
    node_uuid TEXT PRIMARY KEY REFERENCES nodes (uuid) ON DELETE CASCADE,
    doc       TEXT NOT NULL
);
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
, sealed BLOB);
CREATE INDEX volume_targets_node ON volume_targets (node_uuid, id);
