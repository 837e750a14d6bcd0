-- +goose Up
-- Several conductors. One conductor leads a group at a time: its row of leader has a new epoch, which is
-- part of a key, so that a takeover waits for writes that have locked the last one. A renewal changes no
-- key. until is infinity for a conductor without a cluster, and -infinity for none.
ALTER TABLE leader DROP CONSTRAINT "leader.epoch";
ALTER TABLE leader ADD COLUMN conductor_group TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE leader ADD COLUMN until TIMESTAMPTZ NOT NULL DEFAULT '-infinity';
ALTER TABLE leader ADD CONSTRAINT "leader.conductor_group" PRIMARY KEY (conductor_group);
ALTER TABLE leader ADD CONSTRAINT "leader.epoch" UNIQUE (conductor_group, epoch);

-- The conductors. instance tells two with one name apart, address is where members forward to.
CREATE TABLE members (
    name            TEXT COLLATE "C" NOT NULL CONSTRAINT "members.name" PRIMARY KEY,
    instance        TEXT COLLATE "C" NOT NULL,
    conductor_group TEXT COLLATE "C" NOT NULL,
    address         TEXT COLLATE "C" NOT NULL,
    hardware_types  TEXT COLLATE "C" NOT NULL,
    drained         BOOLEAN          NOT NULL DEFAULT FALSE,
    created         TIMESTAMPTZ      NOT NULL DEFAULT clock_timestamp(),
    seen            TIMESTAMPTZ      NOT NULL DEFAULT clock_timestamp()
);

-- Keys that all conductors share, sealed with the cluster key.
CREATE TABLE shared_keys (
    name   TEXT COLLATE "C" NOT NULL CONSTRAINT "shared_keys.name" PRIMARY KEY,
    number BIGINT NOT NULL,
    sealed BYTEA  NOT NULL
);
