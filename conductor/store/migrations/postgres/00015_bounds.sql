-- +goose Up
-- How much of the audit each conductor has written, and its newest entry that was deleted (the cut): every conductor has
-- one chain after another. Entries up to a cut may be deleted, once the audit itself has an entry with the cut's hash.
CREATE TABLE audit_writers (
    writer  TEXT   COLLATE "C" PRIMARY KEY,
    entries BIGINT NOT NULL,
    bytes   BIGINT NOT NULL,
    cut     BIGINT NOT NULL DEFAULT 0,
    chain   TEXT   COLLATE "C" NOT NULL DEFAULT '',
    number  BIGINT NOT NULL DEFAULT 0,
    hash    TEXT   NOT NULL DEFAULT '',
    stub    BIGINT NOT NULL DEFAULT 0
);
INSERT INTO audit_writers (writer, entries, bytes)
    SELECT writer, count(*), sum(octet_length(doc)) FROM audit GROUP BY writer;
DROP TRIGGER audit_stays ON audit;
CREATE TRIGGER audit_stays BEFORE UPDATE OR TRUNCATE ON audit EXECUTE FUNCTION audit_stays();
-- +goose StatementBegin
CREATE FUNCTION audit_keeps() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN
    IF NOT EXISTS (SELECT FROM audit_writers w WHERE w.writer = OLD.writer AND OLD.id <= w.cut) THEN
        RAISE EXCEPTION 'the audit is only added to, and pruned with ferrite audit prune';
    END IF;
    RETURN OLD;
END $$;
-- +goose StatementEnd
CREATE TRIGGER audit_keeps BEFORE DELETE ON audit FOR EACH ROW EXECUTE FUNCTION audit_keeps();
-- +goose StatementBegin
CREATE FUNCTION audit_cut() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN
    IF TG_OP = 'UPDATE' THEN
        IF (NEW.writer, NEW.cut, NEW.chain, NEW.number, NEW.hash, NEW.stub)
            IS NOT DISTINCT FROM (OLD.writer, OLD.cut, OLD.chain, OLD.number, OLD.hash, OLD.stub) THEN
            RETURN NEW;
        END IF;
        IF NEW.writer <> OLD.writer OR NEW.cut < OLD.cut THEN
            RAISE EXCEPTION 'a cut of the audit does not move back';
        END IF;
    ELSIF NEW.cut = 0 THEN
        RETURN NEW;
    END IF;
    IF NEW.stub <= NEW.cut OR NOT EXISTS (SELECT FROM audit s WHERE s.id = NEW.stub
        AND position('"hash":"' || NEW.hash || '"' IN s.doc) > 0) THEN
        RAISE EXCEPTION 'a cut of the audit needs an entry that names it';
    END IF;
    RETURN NEW;
END $$;
-- +goose StatementEnd
CREATE TRIGGER audit_cut BEFORE INSERT OR UPDATE ON audit_writers FOR EACH ROW EXECUTE FUNCTION audit_cut();
-- The project that an allocation or a runbook belongs to, so that those of one project are counted by an index.
ALTER TABLE allocations ADD COLUMN owner TEXT COLLATE "C";
ALTER TABLE runbooks ADD COLUMN owner TEXT COLLATE "C";
UPDATE allocations SET owner = CASE WHEN strpos(doc, '"owner":') > 0
    THEN NULLIF(replace(doc, '\u0000', '\ufffd')::json ->> 'owner', '') END;
UPDATE runbooks SET owner = CASE WHEN strpos(doc, '"owner":') > 0
    THEN NULLIF(replace(doc, '\u0000', '\ufffd')::json ->> 'owner', '') END;
CREATE INDEX allocations_owner ON allocations (owner) WHERE owner IS NOT NULL;
CREATE INDEX runbooks_owner ON runbooks (owner) WHERE owner IS NOT NULL;
