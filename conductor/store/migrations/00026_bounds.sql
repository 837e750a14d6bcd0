-- +goose Up
-- How much of the audit each conductor has written, and its newest entry that was deleted (the cut): every conductor has
-- one chain after another. Entries up to a cut may be deleted, once the audit itself has an entry with the cut's hash.
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
INSERT INTO audit_writers (writer, entries, bytes)
    SELECT writer, count(*), sum(octet_length(doc)) FROM audit GROUP BY writer;
DROP TRIGGER audit_keeps;
-- +goose StatementBegin
CREATE TRIGGER audit_keeps BEFORE DELETE ON audit
WHEN NOT EXISTS (SELECT 1 FROM audit_writers w WHERE w.writer = OLD.writer AND OLD.id <= w.cut)
BEGIN SELECT raise(ABORT, 'the audit is only added to, and pruned with ferrite audit prune'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER audit_cut BEFORE UPDATE OF writer, cut, chain, number, hash, stub ON audit_writers
WHEN NEW.writer <> OLD.writer OR NEW.cut < OLD.cut OR NEW.stub <= NEW.cut
    OR NOT EXISTS (SELECT 1 FROM audit s WHERE s.id = NEW.stub AND instr(s.doc, '"hash":"' || NEW.hash || '"') > 0)
BEGIN SELECT raise(ABORT, 'a cut of the audit needs an entry that names it'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER audit_first_cut BEFORE INSERT ON audit_writers
WHEN NEW.cut <> 0 AND (NEW.stub <= NEW.cut
    OR NOT EXISTS (SELECT 1 FROM audit s WHERE s.id = NEW.stub AND instr(s.doc, '"hash":"' || NEW.hash || '"') > 0))
BEGIN SELECT raise(ABORT, 'a cut of the audit needs an entry that names it'); END;
-- +goose StatementEnd
-- The project that an allocation or a runbook belongs to, so that those of one project are counted by an index.
ALTER TABLE allocations ADD COLUMN owner TEXT;
ALTER TABLE runbooks ADD COLUMN owner TEXT;
UPDATE allocations SET owner = NULLIF(doc ->> '$.owner', '') WHERE json_valid(doc);
UPDATE runbooks SET owner = NULLIF(doc ->> '$.owner', '') WHERE json_valid(doc);
CREATE INDEX allocations_owner ON allocations (owner) WHERE owner IS NOT NULL;
CREATE INDEX runbooks_owner ON runbooks (owner) WHERE owner IS NOT NULL;
