-- +goose Up
-- Sessions that leaders of a cluster have at BMCs: the next leader ends what the last one has left. session names one,
-- sealed has its path and its token.
CREATE TABLE bmc_sessions (
    conductor_group TEXT COLLATE "C" NOT NULL,
    address         TEXT COLLATE "C" NOT NULL,
    account         TEXT COLLATE "C" NOT NULL,
    session         TEXT COLLATE "C" NOT NULL,
    epoch           BIGINT NOT NULL,
    opened          BIGINT NOT NULL,
    sealed          BYTEA  NOT NULL,
    CONSTRAINT "bmc_sessions.session" PRIMARY KEY (conductor_group, address, account, session)
);
