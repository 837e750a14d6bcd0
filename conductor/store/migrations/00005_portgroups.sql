-- +goose Up
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

-- What a document names becomes a column, so that it must exist and stays; NULL
-- for none. Until now any UUID could be named, and a name be given twice.
UPDATE nodes SET doc = json_remove(doc, '$.chassis_uuid'), chassis_uuid = '' WHERE chassis_uuid <> '';
UPDATE ports SET doc = json_remove(doc, '$.portgroup_uuid');
UPDATE ports SET doc = json_remove(doc, '$.name')
    WHERE EXISTS (SELECT 1 FROM ports older WHERE older.id < ports.id AND older.doc ->> '$.name' = ports.doc ->> '$.name');

ALTER TABLE nodes ADD COLUMN chassis TEXT GENERATED ALWAYS AS (NULLIF(chassis_uuid, '')) VIRTUAL REFERENCES chassis (uuid);
CREATE INDEX nodes_chassis ON nodes (chassis) WHERE chassis IS NOT NULL;
ALTER TABLE ports ADD COLUMN name TEXT GENERATED ALWAYS AS (doc ->> '$.name') VIRTUAL;
CREATE UNIQUE INDEX ports_name ON ports (name);
ALTER TABLE ports ADD COLUMN portgroup_uuid TEXT GENERATED ALWAYS AS (doc ->> '$.portgroup_uuid') VIRTUAL REFERENCES portgroups (uuid);
ALTER TABLE ports ADD COLUMN description_lower TEXT NOT NULL DEFAULT '';
UPDATE ports SET description_lower = lower(coalesce(doc ->> '$.description', ''));
CREATE INDEX ports_portgroup ON ports (portgroup_uuid, id);
