package auth

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/api/auth/oslopolicy"
)

// policyFile opens a file with this text.
func policyFile(t *testing.T, text string, log *slog.Logger) (*PolicyFile, string, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "policy.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := OpenPolicyFile(path, "service", log)
	return p, path, err
}

// TestPolicyFile: a rule of the file replaces a row, also for a role that no row has, and all other rows stay.
func TestPolicyFile(t *testing.T) {
	p, _, err := policyFile(t, `
"baremetal:node:set_power_state": "role:power_user or rule:baremetal:node:update"
"baremetal:node:list": "not role:reader"
"baremetal:node:create": "project_id:%(node.owner)s"
"baremetal:node:vendor_passthru": "role:member and project_id:%(node.owner)s"
"baremetal:step:execute:raid.create_configuration": "role:admin"
"baremetal:step:execute:bios.factory_reset": "project_id:%(node.owner)s"
`, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	rules := NewRules(p)
	cloud := func(project string, roles ...string) *Caller {
		return &Caller{User: "c", Project: project, Identity: &Identity{Roles: roles}}
	}
	power, list, create := rules.Of("PUT", "/v1/nodes/:node/states/power", ""), rules.Of("GET", "/v1/nodes", ""),
		rules.Of("POST", "/v1/nodes", "")
	vendor, boot := rules.Of("POST", "/v1/nodes/:node/vendor_passthru", ""),
		rules.Of("PUT", "/v1/nodes/:node/management/boot_device", "")
	operator, admin := &Caller{Role: Operator}, &Caller{Role: Admin}
	for name, tc := range map[string]struct{ got, want bool }{
		"a role of the site":                   {power.Allows(cloud("a", "power_user"), "b", ""), true},
		"the row that it refers to":            {power.Allows(&Caller{Role: Operator, Project: "a"}, "a", ""), true},
		"neither":                              {power.Allows(&Caller{Role: Reader, Project: "a"}, "a", ""), false},
		"a list for other roles":               {list.Conceivable(cloud("a", "power_user")), true},
		"a list not for readers":               {list.Conceivable(&Caller{Role: Reader}), false},
		"a new record has no owner to ask for": {create.Conceivable(&Caller{Role: Admin, Project: "a"}), false},
		"a handler asks again with the node":   {vendor.Conceivable(&Caller{Role: Operator, Project: "a"}), true},
		"and denies":                           {vendor.Allows(&Caller{Role: Operator, Project: "a"}, "b", ""), false},
		"or allows":                            {vendor.Allows(&Caller{Role: Operator, Project: "a"}, "a", ""), true},
		"the system, which had the right":      {vendor.Allows(admin, "a", ""), false},
		"a row that the file does not name":    {boot.Allows(operator, "", ""), true},
		"the same row, for a role without one": {boot.Allows(cloud("a", "power_user"), "a", "a"), false},
		"rules that such a role meets":         {met(rules, cloud("a", "power_user")), true},
	} {
		if tc.got != tc.want {
			t.Errorf("%s: %v, want %v", name, tc.got, tc.want)
		}
	}
	on, anywhere := oslopolicy.Target{Kind: "node", Owner: "a"}, oslopolicy.Target{Kind: "node", Unread: true}
	for name, tc := range map[string]struct{ got, want oslopolicy.Verdict }{
		"a step for admins":     {p.Step(operator, "raid", "create_configuration", on), oslopolicy.Deny},
		"an admin":              {p.Step(admin, "raid", "create_configuration", on), oslopolicy.Allow},
		"a step without a rule": {p.Step(operator, "raid", "delete_configuration", on), oslopolicy.Allow},
		"a step for owners, on no node": {p.Step(&Caller{Project: "a"}, "bios", "factory_reset", anywhere),
			oslopolicy.Unknown},
		"another owner":  {p.Step(&Caller{Project: "b"}, "bios", "factory_reset", on), oslopolicy.Deny},
		"without a file": {(*PolicyFile)(nil).Step(operator, "bios", "x", on), oslopolicy.Allow},
	} {
		if tc.got != tc.want {
			t.Errorf("%s: %v, want %v", name, tc.got, tc.want)
		}
	}
}

// met reports whether the caller's rules are those that the file gives.
func met(rules Rules, c *Caller) bool {
	always, owner, lessee := rules.Met(c)
	return strings.Join(always, " ") == "baremetal:node:list baremetal:node:set_power_state" &&
		strings.Join(owner, " ") == "baremetal:node:create" && len(lessee) == 0
}

// TestPolicyFileReloaded: a changed file is taken over; one with a fault is logged once, and the former rules hold.
func TestPolicyFileReloaded(t *testing.T) {
	var log bytes.Buffer
	p, path, err := policyFile(t, "baremetal:node:create: role:a\n", slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	create := NewRules(p).Of("POST", "/v1/nodes", "")
	allows := func(role string) bool {
		p.looked.Store(-lookEvery.Nanoseconds()) // the last look was long ago
		p.look()
		return create.Allows(&Caller{Identity: &Identity{Roles: []string{role}}}, "", "")
	}
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if !allows("a") || allows("b") {
		t.Error("the file is not in force")
	}
	write("baremetal:node:create: role:b\n")
	if allows("a") || !allows("b") {
		t.Error("the changed file is not in force")
	}
	write("baremetal:node:create: rolle:c\n")
	if first := allows("b"); !first || !allows("b") || strings.Count(log.String(), "rolle") != 1 {
		t.Errorf("after a fault:\n%s", &log)
	}
}

// TestPolicyFileRefused: names without an effect are refused with the reason.
func TestPolicyFileRefused(t *testing.T) {
	for text, want := range map[string]string{
		"baremetal:node:gett: role:x\n":                "line 1: rule baremetal:node:gett: expected a rule of the conductor",
		"\nbaremetal:port:get_all: role:x\n":           "line 2: rule baremetal:port:get_all",
		"baremetal:node:gte: role:x\n":                 "(did you mean baremetal:node:get?)",
		"public_api: role:x\n":                         "anybody may do this",
		"show_password: role:admin\n":                  "secrets are masked",
		"baremetal:node:list_all: role:admin\n":        "lists have all records for callers of the system",
		"baremetal:node:ipa_heartbeat: '!'\n":          "agents have no user",
		"baremetal:step:execute:disk.wipe: role:x\n":   "expected baremetal:step:execute:INTERFACE.STEP",
		"is_adm: role:x\n":                             "or a name that another rule refers to",
		"baremetal:node:get: rule:baremetal:node:ge\n": "(did you mean baremetal:node:get?)",
	} {
		_, _, err := policyFile(t, text, slog.New(slog.DiscardHandler))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// TestPolicyFileRefersToRow: a rule without a record has the right of the row that it refers to, where that row does
// not depend on the record's owner.
func TestPolicyFileRefersToRow(t *testing.T) {
	p, _, err := policyFile(t, `
"baremetal:port:list": "rule:baremetal:node:list"
"baremetal:chassis:get": "role:auditor or rule:baremetal:driver:get"
"baremetal:allocation:create": "rule:baremetal:node:get"
"baremetal:runbook:create": "not rule:baremetal:node:get"
`, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	rules := NewRules(p)
	system, project := &Caller{Role: Reader}, &Caller{Role: Reader, Project: "a"}
	for _, c := range []struct {
		method, path string
		who          *Caller
		want         bool
	}{
		{"GET", "/v1/ports", system, true},
		{"GET", "/v1/ports", project, true},
		{"GET", "/v1/ports", &Caller{Identity: &Identity{}}, false},
		{"GET", "/v1/chassis", system, true},
		{"GET", "/v1/chassis", project, false},
		{"POST", "/v1/allocations", system, true},
		{"POST", "/v1/allocations", project, false}, // of no node is it the owner
		{"POST", "/v1/runbooks", project, false},
		{"POST", "/v1/runbooks", system, false},
	} {
		if got := rules.Of(c.method, c.path, "").Conceivable(c.who); got != c.want {
			t.Errorf("%s %s by a reader of %q: %v, want %v", c.method, c.path, c.who.Project, got, c.want)
		}
	}
}
