-- +goose Up
-- Who asked for what. Entries outlive the nodes that they are about, and are only added.
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
-- +goose StatementBegin
CREATE TRIGGER audit_stays BEFORE UPDATE ON audit BEGIN SELECT raise(ABORT, 'the audit is only added to'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER audit_keeps BEFORE DELETE ON audit BEGIN SELECT raise(ABORT, 'the audit is only added to'); END;
-- +goose StatementEnd
