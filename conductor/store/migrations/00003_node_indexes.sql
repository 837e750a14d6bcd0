-- +goose Up
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
