package auth

import (
	"net/http"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/api/auth/oslopolicy"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Rule is one row of the policy: a permission, and the least role that has it, by the caller's relation to the node.
type Rule struct {
	Name   string // Ironic's name for it, part of a denial
	System Role   // of those without a project
	Owner  Role   // of the project that owns the node
	Lessee Role   // of the project the node is lent to
	Any    Role   // of any project, on routes that show or give a caller only records of its project
	// For lists the routes under the rule, with {} for each part that varies. A field behind the route means that the
	// rule applies, besides, to bodies with this field.
	For []string

	// In place of this rule, a file may have another.
	file   *PolicyFile // nil for none
	number int         // of the row
	kind   string      // of the records that the rule is about, as in oslopolicy.Target
}

// row is a Rule as the tables have it.
type row struct {
	name                       string
	system, owner, lessee, any Role
	routes                     []string
}

// Policy is the only table of permissions. It follows Ironic's secure-RBAC defaults. Ironic's system admin, member and
// reader are an admin, operator and reader without a project; a project's are the same with one. Ironic's project
// manager is an admin here.
//
// A rule without a row is for system admins alone.
func Policy() []Rule {
	rows := slices.Concat(nodePolicy(), otherPolicy(), ferritePolicy())
	rules := make([]Rule, len(rows))
	for i, r := range rows {
		rules[i] = Rule{Name: r.name, System: r.system, Owner: r.owner, Lessee: r.lessee, Any: r.any, For: r.routes,
			number: i, kind: kindOfRecord(r.name)}
	}
	return rules
}

// no is in place of a role when none will do.
const no = nobody

// nodePolicy has the rows about a node and its parts.
//
//nolint:funlen // a table, a row a rule
func nodePolicy() []row {
	return []row{ // name, then the least role: of the system, the owner, the lessee, any project
		{"baremetal:node:create", Admin, no, no, Admin, []string{"POST /v1/nodes", "POST /ferrite/v1/bmc-test"}},
		{"baremetal:node:list", Reader, no, no, Reader, []string{"GET /v1/nodes", "GET /v1/nodes/detail"}},
		{"baremetal:node:get", Reader, Reader, Reader, no,
			[]string{"GET /v1/nodes/{}", "POST /v1/nodes/{}", "GET /v1/nodes/{}/{}", "GET /ferrite/v1/nodes/{}/steps",
				"GET /ferrite/v1/nodes/{}/sensors"}},
		{"baremetal:node:update", Operator, Operator, Operator, no,
			[]string{"PATCH /v1/nodes/{}", "PATCH /v1/nodes", "DELETE /v1/nodes"}},
		{"baremetal:node:update_extra", Operator, Operator, Operator, no, []string{"PATCH /v1/nodes/{} extra"}},
		{"baremetal:node:update_instance_info", Operator, Operator, Admin, no, []string{
			"PATCH /v1/nodes/{} instance_info", "PATCH /v1/nodes/{} instance_name"}},
		{"baremetal:node:update:driver_info", Operator, Operator, no, no, []string{"PATCH /v1/nodes/{} driver_info"}},
		{"baremetal:node:update:properties", Operator, Operator, no, no, []string{"PATCH /v1/nodes/{} properties"}},
		{"baremetal:node:update:chassis_uuid", Admin, no, no, no, []string{"PATCH /v1/nodes/{} chassis_uuid"}},
		{"baremetal:node:update:instance_uuid", Operator, Operator, no, no, []string{"PATCH /v1/nodes/{} instance_uuid"}},
		{"baremetal:node:update:lessee", Operator, Operator, no, no, []string{"PATCH /v1/nodes/{} lessee"}},
		{"baremetal:node:update:owner", Operator, no, no, no, []string{"PATCH /v1/nodes/{} owner"}},
		{"baremetal:node:update_owner_provisioned", Admin, no, no, no, []string{"PATCH /v1/nodes/{} owner while active"}},
		{"baremetal:node:update:driver_interfaces", Operator, Admin, no, no, []string{
			"PATCH /v1/nodes/{} driver", "PATCH /v1/nodes/{} {}_interface"}},
		{"baremetal:node:update:network_data", Operator, Operator, no, no, []string{"PATCH /v1/nodes/{} network_data"}},
		{"baremetal:node:update:conductor_group", Operator, no, no, no, []string{"PATCH /v1/nodes/{} conductor_group"}},
		{"baremetal:node:update:name", Operator, Operator, no, no, []string{"PATCH /v1/nodes/{} name"}},
		{"baremetal:node:update:retired", Operator, Operator, no, no, []string{
			"PATCH /v1/nodes/{} retired", "PATCH /v1/nodes/{} retired_reason"}},
		{"baremetal:node:update:shard", Admin, no, no, no, []string{"PATCH /v1/nodes/{} shard"}},
		{"baremetal:node:update:parent_node", Operator, no, no, no, []string{"PATCH /v1/nodes/{} parent_node"}},
		{"baremetal:node:update:disable_power_off", Admin, no, no, no, []string{"PATCH /v1/nodes/{} disable_power_off"}},
		{"baremetal:node:disable_cleaning", Admin, no, no, no, []string{"PATCH /v1/nodes/{} automated_clean off"}},
		{"baremetal:node:delete:self_owned_node", Admin, Admin, no, no, []string{"DELETE /v1/nodes/{}"}},

		// Fields that reveal the operator's infrastructure. Hidden from lessees.
		{"baremetal:node:get:driver_info", Reader, Reader, no, no, []string{"GET /v1/nodes/{} driver_info"}},
		{"baremetal:node:get:driver_internal_info", Reader, Reader, no, no, []string{
			"GET /v1/nodes/{} driver_internal_info", "GET /ferrite/v1/nodes/{}/status", "GET /ferrite/v1/nodes/{}/logs"}},
		{"baremetal:node:get:last_error", Reader, Reader, no, no, []string{"GET /v1/nodes/{} last_error"}},
		{"baremetal:node:get:reservation", Reader, Reader, no, no, []string{"GET /v1/nodes/{} reservation"}},
		{"baremetal:node:history:get", Reader, Reader, no, no,
			[]string{"GET /v1/nodes/{}/history", "GET /v1/nodes/{}/history/detail", "GET /v1/nodes/{}/history/{}"}},
		{"baremetal:node:inventory:get", Reader, Reader, no, no, []string{
			"GET /v1/nodes/{}/inventory", "POST /ferrite/v1/nodes/{}/root-device"}},

		{"baremetal:node:get_states", Reader, Reader, Reader, no, []string{"GET /v1/nodes/{}/states"}},
		{"baremetal:node:set_provision_state", Operator, Operator, Admin, no, []string{
			"PUT /v1/nodes/{}/states/provision", "GET /v1/nodes/{}/states/provision"}},
		{"baremetal:node:set_provision_state:clean_steps", Operator, Operator, Admin, no, []string{
			"PUT /v1/nodes/{}/states/provision clean_steps"}},
		{"baremetal:node:set_provision_state:service_steps", Operator, Operator, Admin, no, []string{
			"PUT /v1/nodes/{}/states/provision service_steps"}},
		{"baremetal:node:set_power_state", Operator, Operator, Operator, no, []string{
			"PUT /v1/nodes/{}/states/power", "GET /v1/nodes/{}/states/power", "PUT /ferrite/v1/nodes/{}/power"}},
		{"baremetal:node:set_maintenance", Operator, Operator, Admin, no, []string{
			"PUT /v1/nodes/{}/maintenance", "GET /v1/nodes/{}/maintenance"}},
		{"baremetal:node:clear_maintenance", Operator, Operator, Admin, no, []string{"DELETE /v1/nodes/{}/maintenance"}},
		{"baremetal:node:validate", Operator, Operator, Admin, no,
			[]string{"GET /v1/nodes/{}/validate", "GET /v1/nodes/validate"}},
		{"baremetal:node:get_boot_device", Operator, Admin, no, no, []string{
			"GET /v1/nodes/{}/management/boot_device", "GET /v1/nodes/{}/management/boot_device/supported"}},
		{"baremetal:node:set_boot_device", Operator, Admin, no, no, []string{"PUT /v1/nodes/{}/management/boot_device"}},
		{"baremetal:node:bios:get", Reader, Reader, Reader, no,
			[]string{"GET /v1/nodes/{}/bios", "GET /v1/nodes/{}/bios/{}"}},
		{"baremetal:node:firmware:get", Reader, Reader, Reader, no, []string{"GET /v1/nodes/{}/firmware"}},
		{"baremetal:node:list_children", Reader, Reader, no, no, []string{"GET /v1/nodes/{}/children"}},
		{"baremetal:node:set_raid_state", Operator, Operator, no, no,
			[]string{"PUT /v1/nodes/{}/states/raid", "GET /v1/nodes/{}/states/raid"}},
		{"baremetal:node:vmedia:get", Reader, Reader, no, no, []string{"GET /v1/nodes/{}/vmedia"}},
		{"baremetal:node:vmedia:attach", Operator, Operator, no, no, []string{"POST /v1/nodes/{}/vmedia"}},
		{"baremetal:node:vmedia:detach", Operator, Operator, no, no, []string{"DELETE /v1/nodes/{}/vmedia"}},
		{"baremetal:node:get_indicator_state", Reader, Reader, Reader, no, []string{
			"GET /v1/nodes/{}/management/indicators", "GET /v1/nodes/{}/management/indicators/{}",
			"GET /v1/nodes/{}/management/indicators/{}/{}"}},
		{"baremetal:node:set_indicator_state", Operator, Operator, no, no, []string{
			"PUT /v1/nodes/{}/management/indicators/{}", "PUT /v1/nodes/{}/management/indicators/{}/{}"}},
		{"baremetal:node:inject_nmi", Operator, Admin, no, no, []string{"PUT /v1/nodes/{}/management/inject_nmi"}},
		{"baremetal:node:get_console", Operator, Admin, no, no, []string{"GET /v1/nodes/{}/states/console"}},
		{"baremetal:node:set_console_state", Operator, Admin, no, no, []string{
			"PUT /v1/nodes/{}/states/console", "GET /ferrite/v1/nodes/{}/console"}},
		{"baremetal:node:set_boot_mode", Operator, Admin, no, no, []string{"PUT /v1/nodes/{}/states/boot_mode"}},
		{"baremetal:node:set_secure_boot", Operator, Admin, no, no, []string{"PUT /v1/nodes/{}/states/secure_boot"}},
		{"baremetal:node:vendor_passthru", Admin, no, no, no, vendorPassthru("/v1/nodes/{}/vendor_passthru")},
		{"baremetal:node:vif:list", Operator, Admin, Admin, no, []string{"GET /v1/nodes/{}/vifs"}},
		{"baremetal:node:vif:attach", Operator, Admin, Admin, no, []string{"POST /v1/nodes/{}/vifs"}},
		{"baremetal:node:vif:detach", Operator, Admin, Admin, no, []string{"DELETE /v1/nodes/{}/vifs/{}"}},
		{"baremetal:node:traits:list", Reader, Reader, Reader, no,
			[]string{"GET /v1/nodes/{}/traits", "GET /v1/nodes/{}/traits/{}"}},
		{"baremetal:node:traits:set", Operator, Admin, no, no,
			[]string{"PUT /v1/nodes/{}/traits", "PUT /v1/nodes/{}/traits/{}"}},
		{"baremetal:node:traits:delete", Operator, Admin, no, no,
			[]string{"DELETE /v1/nodes/{}/traits", "DELETE /v1/nodes/{}/traits/{}"}},
	}
}

// otherPolicy is the rows about all else.
//
//nolint:funlen // a table, a row a rule
func otherPolicy() []row {
	return []row{
		{"public_api", Stranger, Stranger, Stranger, Stranger, []string{"GET /", "GET /v1", "POST /v1"}},

		{"baremetal:port:list", Reader, Reader, Reader, Reader,
			[]string{"GET /v1/ports", "GET /v1/ports/detail", "GET /v1/nodes/{}/ports", "GET /v1/nodes/{}/ports/detail",
				"GET /v1/portgroups/{}/ports", "GET /v1/portgroups/{}/ports/detail"}},
		{"baremetal:port:get", Reader, Reader, Reader, no, []string{"GET /v1/ports/{}"}},
		{"baremetal:port:create", Admin, Admin, no, no, []string{"POST /v1/ports"}},
		{"baremetal:port:update", Operator, Admin, no, no,
			[]string{"PATCH /v1/ports/{}", "PATCH /v1/ports", "DELETE /v1/ports"}},
		{"baremetal:port:delete", Admin, Admin, no, no, []string{"DELETE /v1/ports/{}"}},

		{"baremetal:portgroup:list", Reader, Reader, Reader, Reader, []string{
			"GET /v1/portgroups", "GET /v1/portgroups/detail", "GET /v1/nodes/{}/portgroups",
			"GET /v1/nodes/{}/portgroups/detail"}},
		{"baremetal:portgroup:get", Reader, Reader, Reader, no, []string{"GET /v1/portgroups/{}"}},
		{"baremetal:portgroup:create", Admin, Admin, no, no, []string{"POST /v1/portgroups"}},
		{"baremetal:portgroup:update", Operator, Admin, no, no, []string{
			"PATCH /v1/portgroups/{}", "PATCH /v1/portgroups", "DELETE /v1/portgroups"}},
		{"baremetal:portgroup:delete", Admin, Admin, no, no, []string{"DELETE /v1/portgroups/{}"}},

		{"baremetal:volume:list", Reader, Reader, Reader, Reader, []string{
			"GET /v1/volume", "GET /v1/volume/connectors", "GET /v1/volume/targets",
			"GET /v1/nodes/{}/volume", "GET /v1/nodes/{}/volume/connectors", "GET /v1/nodes/{}/volume/targets"}},
		{"baremetal:volume:get", Reader, Reader, Reader, no,
			[]string{"GET /v1/volume/connectors/{}", "GET /v1/volume/targets/{}"}},
		{"baremetal:volume:view_target_properties", Reader, no, no, Admin, []string{"GET /v1/volume/targets/{} properties"}},
		{"baremetal:volume:create", Operator, Admin, Admin, no,
			[]string{"POST /v1/volume/connectors", "POST /v1/volume/targets"}},
		{"baremetal:volume:update", Operator, Operator, Admin, no, []string{
			"PATCH /v1/volume/connectors/{}", "PATCH /v1/volume/connectors", "PATCH /v1/volume/targets/{}",
			"PATCH /v1/volume/targets"}},
		{"baremetal:volume:delete", Operator, Admin, Admin, no, []string{
			"DELETE /v1/volume/connectors/{}", "DELETE /v1/volume/connectors", "DELETE /v1/volume/targets/{}",
			"DELETE /v1/volume/targets"}},

		{"baremetal:chassis:get", Reader, no, no, no, []string{
			"GET /v1/chassis", "GET /v1/chassis/detail", "GET /v1/chassis/{}", "GET /v1/chassis/{}/nodes",
			"GET /v1/chassis/{}/nodes/detail"}},
		{"baremetal:chassis:create", Admin, no, no, no, []string{"POST /v1/chassis"}},
		{"baremetal:chassis:update", Operator, no, no, no,
			[]string{"PATCH /v1/chassis/{}", "PATCH /v1/chassis", "DELETE /v1/chassis"}},
		{"baremetal:chassis:delete", Admin, no, no, no, []string{"DELETE /v1/chassis/{}"}},

		{"baremetal:inspection_rule:get", Reader, no, no, no,
			[]string{"GET /v1/inspection_rules", "GET /v1/inspection_rules/{}"}},
		{"baremetal:inspection_rule:create", Admin, no, no, no, []string{"POST /v1/inspection_rules"}},
		{"baremetal:inspection_rule:update", Admin, no, no, no,
			[]string{"PATCH /v1/inspection_rules/{}", "PATCH /v1/inspection_rules"}},
		{"baremetal:inspection_rule:delete", Admin, no, no, no,
			[]string{"DELETE /v1/inspection_rules/{}", "DELETE /v1/inspection_rules"}},

		{"baremetal:deploy_template:get", Reader, no, no, no,
			[]string{"GET /v1/deploy_templates", "GET /v1/deploy_templates/{}"}},
		{"baremetal:deploy_template:create", Admin, no, no, no, []string{"POST /v1/deploy_templates"}},
		{"baremetal:deploy_template:update", Admin, no, no, no, []string{
			"PATCH /v1/deploy_templates/{}", "PATCH /v1/deploy_templates"}},
		{"baremetal:deploy_template:delete", Admin, no, no, no, []string{
			"DELETE /v1/deploy_templates/{}", "DELETE /v1/deploy_templates"}},

		// The owner of a runbook is in the place of a node's.
		{"baremetal:runbook:list", Reader, no, no, Reader, []string{"GET /v1/runbooks"}},
		{"baremetal:runbook:get", Reader, Reader, no, no, []string{
			"GET /v1/runbooks/{}", "GET /v1/runbooks/{}/traits", "GET /v1/runbooks/{}/traits/{}"}},
		{"baremetal:runbook:create", Operator, no, no, Admin, []string{"POST /v1/runbooks"}},
		{"baremetal:runbook:update", Operator, Admin, no, no, []string{
			"PATCH /v1/runbooks/{}", "PATCH /v1/runbooks", "DELETE /v1/runbooks",
			"PUT /v1/runbooks/{}/traits", "DELETE /v1/runbooks/{}/traits", "PUT /v1/runbooks/{}/traits/{}",
			"DELETE /v1/runbooks/{}/traits/{}"}},
		{"baremetal:runbook:update:public", Operator, no, no, no, []string{"PATCH /v1/runbooks/{} public"}},
		{"baremetal:runbook:update:owner", Operator, no, no, no, []string{"PATCH /v1/runbooks/{} owner"}},
		{"baremetal:runbook:delete", Operator, Admin, no, no, []string{"DELETE /v1/runbooks/{}"}},
		{"baremetal:runbook:use", Operator, Admin, no, no, []string{"PUT /v1/nodes/{}/states/provision runbook"}},

		// The owner of an allocation is in the place of a node's. Where it is reached by its
		// node, the node must concern the caller, and the allocation must be the caller's.
		{"baremetal:allocation:list", Reader, no, no, Reader, []string{"GET /v1/allocations"}},
		{"baremetal:allocation:get", Reader, Reader, Reader, no,
			[]string{"GET /v1/allocations/{}", "GET /v1/nodes/{}/allocation"}},
		{"baremetal:allocation:create", Operator, no, no, Operator, []string{"POST /v1/allocations"}},
		{"baremetal:allocation:create_restricted", Operator, no, no, no, []string{"POST /v1/allocations owner"}},
		{"baremetal:allocation:update", Operator, Operator, no, no,
			[]string{"PATCH /v1/allocations/{}", "PATCH /v1/allocations"}},
		{"baremetal:allocation:delete", Operator, Operator, Operator, no, []string{
			"DELETE /v1/allocations/{}", "DELETE /v1/allocations", "DELETE /v1/nodes/{}/allocation"}},

		{"baremetal:driver:get", Reader, no, no, no, []string{"GET /v1/drivers", "GET /v1/drivers/{}"}},
		{"baremetal:driver:get_properties", Reader, no, no, no, []string{"GET /v1/drivers/{}/properties"}},
		{"baremetal:driver:get_raid_logical_disk_properties", Reader, no, no, no,
			[]string{"GET /v1/drivers/{}/raid/logical_disk_properties"}},
		{"baremetal:driver:vendor_passthru", Admin, no, no, no, vendorPassthru("/v1/drivers/{}/vendor_passthru")},
		{"baremetal:shards:get", Reader, no, no, no, []string{"GET /v1/shards"}},
		{"baremetal:events:post", Admin, no, no, no, []string{"POST /v1/events"}},
		{"baremetal:conductor:get", Reader, no, no, no, []string{"GET /v1/conductors", "GET /v1/conductors/{}",
			"GET /ferrite/v1/conductors"}},
		{"ferrite:conductor:drain", Admin, no, no, no, []string{"PUT /ferrite/v1/conductors/{}/drained"}},
	}
}

// ferritePolicy has the rows for features that Ironic lacks.
func ferritePolicy() []row {
	return []row{
		{"ferrite:subcollection:write", Reader, no, no, Reader, subcollections()},
		{"ferrite:status:list", Reader, no, no, Reader, []string{"GET /ferrite/v1/nodes/status"}},
		{"ferrite:openapi:get", Reader, no, no, Reader, []string{"GET /ferrite/v1/openapi.json"}},
		{"ferrite:erase_report:get", Reader, Reader, Reader, no,
			[]string{"GET /ferrite/v1/nodes/{}/erase-reports", "GET /ferrite/v1/erase-reports/{}"}},
		{"ferrite:erase_report:list", Reader, no, no, Reader, []string{"GET /ferrite/v1/erase-reports"}},
		{"ferrite:erase_key:get", Stranger, Stranger, Stranger, Stranger, []string{"GET /ferrite/v1/erase-key"}},
		{"ferrite:call:list", Reader, Reader, no, no, []string{"GET /ferrite/v1/nodes/{}/calls"}},
		{"ferrite:user:list", Admin, no, no, no, []string{"GET /ferrite/v1/users"}},
		{"ferrite:boot:watch", Reader, no, no, no, []string{"GET /ferrite/v1/boot/watch"}},
		{"ferrite:audit:list", Admin, no, no, no, []string{"GET /ferrite/v1/audit", "GET /ferrite/v1/audit/pruned"}},
		{"ferrite:audit:prune", Admin, no, no, no, []string{"POST /ferrite/v1/audit/pruned"}},
		{"ferrite:event:list", Reader, no, no, Reader, []string{"GET /ferrite/v1/events"}},
		{"ferrite:metrics:get", Reader, no, no, no, []string{"GET /metrics"}},
		{"ferrite:session:get", Reader, no, no, Reader,
			[]string{"GET /ferrite/v1/session", "POST /ferrite/v1/session", "DELETE /ferrite/v1/session"}},
		{"ferrite:hold:get", Reader, no, no, no, []string{"GET /ferrite/v1/hold"}},
		{"ferrite:import", Admin, no, no, no, []string{"POST /ferrite/v1/import"}},
		{"ferrite:hold:end", Admin, no, no, no, []string{"PUT /ferrite/v1/hold"}},
		{"ferrite:image:list", Reader, no, no, Reader, []string{"GET /ferrite/v1/images"}},
		{"ferrite:image:get", Reader, no, no, Reader,
			[]string{"GET /ferrite/v1/images/{}", "GET /ferrite/v1/images/{}/file"}},
		{"ferrite:image:upload", Operator, no, no, Admin, []string{"PUT /ferrite/v1/images/{}/file"}},
		// The conductor reaches more than the users of a project do, and would read it for them.
		{"ferrite:image:fetch", Operator, no, no, no, []string{"POST /ferrite/v1/images"}},
		{"ferrite:image:delete", Operator, Admin, no, no, []string{"DELETE /ferrite/v1/images/{}"}},
		{"ferrite:lease:get", Reader, no, no, no, []string{"GET /ferrite/v1/leases"}},
		{"ferrite:lease:set", Operator, no, no, no, []string{"PUT /ferrite/v1/leases/{}", "DELETE /ferrite/v1/leases/{}"}},
	}
}

// subcollections lists the routes by which clients could write to a list below another resource. The API refuses all of
// these requests.
func subcollections() []string {
	routes := []string{"GET /v1/nodes/{}/portgroups/{}/ports"}
	for _, list := range []string{
		"/v1/nodes/{}/ports", "/v1/nodes/{}/portgroups", "/v1/nodes/{}/volume/connectors", "/v1/nodes/{}/volume/targets",
		"/v1/portgroups/{}/ports", "/v1/chassis/{}/nodes",
	} {
		routes = append(routes, "POST "+list, "PATCH "+list, "DELETE "+list, "GET "+list+"/{}", "PATCH "+list+"/{}",
			"DELETE "+list+"/{}")
	}
	return routes
}

// vendorPassthru lists the routes of vendor methods. Each method decides which HTTP methods call it.
func vendorPassthru(path string) []string {
	routes := []string{"GET " + path + "/methods"}
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
		routes = append(routes, method+" "+path, method+" "+path+"/{}")
	}
	return routes
}

// Rules indexes the policy by route and field.
type Rules map[string]*Rule

// NewRules indexes the policy. Rules of a file replace its rows; nil for no file.
func NewRules(file *PolicyFile) Rules {
	rules := Rules{}
	policy := Policy()
	for i := range policy {
		policy[i].file = file
		for _, what := range policy[i].For {
			rules[what] = &policy[i]
		}
	}
	return rules
}

// Of is the rule of a route, as echo spells its path, or of one of its fields.
func (r Rules) Of(method, path, field string) *Rule {
	if rule := r[Key(method, path, field)]; rule != nil {
		return rule
	}
	return &Rule{Name: "baremetal:" + strings.ToLower(method) + ":" + path, System: Admin}
}

// Key is how the policy names a route, or a field of it.
func Key(method, path, field string) string {
	parts := strings.Split(path, "/")
	for i, part := range parts {
		if strings.HasPrefix(part, ":") {
			parts[i] = "{}"
		}
	}
	key := method + " " + strings.Join(parts, "/")
	if field != "" {
		key += " " + field
	}
	return key
}

// written is the rule of the file in place of this one; nil for none.
func (r *Rule) written() oslopolicy.Check {
	if r.file == nil {
		return nil
	}
	return r.file.current.Load().rows[r.number]
}

// Allows reports whether the rule allows a caller. owner and lessee are the projects of the resource; "" is none.
func (r *Rule) Allows(c *Caller, owner, lessee string) bool {
	if check := r.written(); check != nil {
		return check.Eval(c, &oslopolicy.Target{Kind: r.kind, Owner: owner, Lessee: lessee}) == oslopolicy.Allow
	}
	if c.Project == "" {
		return c.Role.reaches(r.System)
	}
	return c.Role.reaches(r.Any) ||
		c.Project == owner && c.Role.reaches(r.Owner) ||
		c.Project == lessee && c.Role.reaches(r.Lessee)
}

// Conceivable reports whether the rule would allow a caller if its project were the owner and the lessee. A rule of a
// file may depend on the record in other ways: then it is conceivable where a handler asks again with the record.
func (r *Rule) Conceivable(c *Caller) bool {
	if check := r.written(); check != nil {
		v := check.Eval(c, &oslopolicy.Target{Kind: r.kind, Unread: true})
		return v == oslopolicy.Allow || v == oslopolicy.Unknown && r.ofRecord()
	}
	return r.Allows(c, c.Project, c.Project)
}

// ofRecord reports whether handlers ask the rule with a record that they have read. They do not for lists and for new
// records: callers of a project get and make records of that project alone there (Any).
func (r *Rule) ofRecord() bool {
	return r.Any == no && (r.Owner != no || r.Lessee != no || slices.ContainsFunc(r.For, func(route string) bool {
		return strings.Contains(route, "/nodes/{}")
	}))
}

// Public reports whether strangers may.
func (r *Rule) Public() bool { return r.System == Stranger }

// Denied is the 403 for a caller that the rule does not allow.
func (r *Rule) Denied() error {
	return nodeapi.NewFault(http.StatusForbidden, "Access was denied to the following resource: %s", r.Name)
}
