PREPARE node AS
SELECT id, revision, uuid, doc, sealed FROM nodes WHERE uuid = $1;

PREPARE page AS
SELECT id, revision, uuid, doc, sealed FROM nodes WHERE provision_state = $1 AND parent_node = '' AND (id, id) > (SELECT id, id FROM nodes WHERE uuid = $2) ORDER BY id ASC, id ASC LIMIT $3;

PREPARE free AS
SELECT id, revision, uuid, doc, sealed FROM nodes WHERE resource_class = $1 AND (instance_uuid <> '') = $2 AND (maintenance) = $3 AND (owner = $4 OR lessee = $5) AND conductor_group <> '' AND conductor_group = $6 AND uuid IN (SELECT unnest($7::text[])) AND shard IN (SELECT unnest($8::text[])) AND strpos(description_lower, $9) > 0 ORDER BY coalesce(replace(doc, '\u0000', '\ufffd')::json -> 'interfaces' ->> 'boot', '') COLLATE "C" DESC, id DESC;

PREPARE sorted AS
SELECT id, revision, uuid, doc, sealed FROM nodes WHERE fault <> '' AND fault = $1 AND parent_node = '' ORDER BY coalesce((replace(doc, '\u0000', '\ufffd')::json ->> 'secure_boot')::boolean::integer, -1) ASC, id ASC;

PREPARE consoles AS
SELECT id, revision, uuid, doc, sealed FROM nodes WHERE driver = $1 AND console_enabled AND conductor_group <> '' AND conductor_group = $2 AND parent_node = '' ORDER BY id ASC, id ASC;

PREPARE ports AS
SELECT id, uuid, doc, NULL FROM ports WHERE node_uuid = $1 AND strpos(description_lower, $2) > 0 AND node_uuid IN (SELECT uuid FROM nodes WHERE $3 IN (owner, lessee)) AND node_uuid IN (SELECT uuid FROM nodes WHERE shard IN (SELECT unnest($4::text[])));

PREPARE documents AS
SELECT r.revision, o.kind, o.namespace, o.name, o.uid, o.revision, o.owners, o.doc
	FROM objects_revision r LEFT JOIN objects o ON TRUE AND o.kind = $1 AND o.owners <> '' AND strpos(o.owners, $2) > 0 AND (o.namespace, o.name) > ($3, $4) ORDER BY o.namespace, o.name, o.kind LIMIT $5;

PREPARE expired AS
SELECT uuid FROM nodes WHERE deadline > 0 AND deadline <= $1 ORDER BY deadline, id LIMIT $2;

PREPARE claim AS
UPDATE effects SET owner = $1, attempt = attempt + 1, lease_until = $2 WHERE run_at <= $3 AND lease_until <= $4 AND node IN (SELECT unnest($5::text[])) RETURNING id, node, generation, name, args, run_at, owner, attempt, lease_until, error, sealed, accepted;

PREPARE save_often AS
UPDATE nodes SET updated_at = $2, inspection_finished_at = $7, inspection_started_at = $8, power_state = $16, provision_state = $18, provision_updated_at = $19, target_power_state = $23, target_provision_state = $24, deadline = $27, doc = $29, sealed = $30, revision = $31 WHERE uuid = $32 AND revision = $31 - 1 AND created_at = $1 AND conductor_group = $3 AND console_enabled = $4 AND driver = $5 AND fault = $6 AND instance_name = $9 AND instance_uuid = $10 AND lessee = $11 AND maintenance = $12 AND name = $13 AND owner = $14 AND parent_node = $15 AND protected = $17 AND resource_class = $20 AND retired = $21 AND shard = $22 AND chassis_uuid = $25 AND description_lower = $26 AND machine = $28;

PREPARE save_whole AS
UPDATE nodes SET created_at = $1, conductor_group = $3, console_enabled = $4, driver = $5, fault = $6, instance_name = $9, instance_uuid = $10, lessee = $11, maintenance = $12, name = $13, owner = $14, parent_node = $15, protected = $17, resource_class = $20, retired = $21, shard = $22, chassis_uuid = $25, description_lower = $26, machine = $28, updated_at = $2, inspection_finished_at = $7, inspection_started_at = $8, power_state = $16, provision_state = $18, provision_updated_at = $19, target_power_state = $23, target_provision_state = $24, deadline = $27, doc = $29, sealed = $30, revision = $31 WHERE uuid = $32 AND revision = $31 - 1 AND created_at = $1;

PREPARE insert_node AS
INSERT INTO nodes (created_at, updated_at, conductor_group, console_enabled, driver, fault, inspection_finished_at, inspection_started_at, instance_name, instance_uuid, lessee, maintenance, name, owner, parent_node, power_state, protected, provision_state, provision_updated_at, resource_class, retired, shard, target_power_state, target_provision_state, chassis_uuid, description_lower, deadline, machine, doc, sealed, revision, uuid) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31, $32);

