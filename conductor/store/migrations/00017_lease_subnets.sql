-- +goose Up
-- Racks that are built alike have the same addresses, so an address is unique in its subnet. Leases of
-- before are in the subnet that their address belongs to, which '' stands for.
CREATE TABLE leases_new (
    mac     TEXT    PRIMARY KEY,
    subnet  TEXT    NOT NULL,
    ip      TEXT    NOT NULL,
    static  INTEGER NOT NULL,
    expires INTEGER NOT NULL,
    UNIQUE (subnet, ip)
);
INSERT INTO leases_new (mac, subnet, ip, static, expires) SELECT mac, '', ip, static, expires FROM leases;
DROP TABLE leases;
ALTER TABLE leases_new RENAME TO leases;
