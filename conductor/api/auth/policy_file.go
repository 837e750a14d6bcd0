package auth

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/api/auth/oslopolicy"
	"github.com/ferrite-metal/ferrite/conductor/server/reload"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// PolicyFile is an operator's file of rules, in the language of oslo.policy. Its rules stand in place of rows of the
// policy. It is safe for concurrent use; nil is no file.
type PolicyFile struct {
	files   *reload.Files[*written]
	current atomic.Pointer[written]
	started time.Time
	looked  atomic.Int64 // since started, in nanoseconds
}

// written is the content of a file.
type written struct {
	rows  []oslopolicy.Check // by the number of the row; nil for rows that the file does not name
	steps oslopolicy.Rules   // by stepRule
}

// lookEvery is the least time between two looks at the file. Requests in between decide from memory.
const lookEvery = time.Second

// OpenPolicyFile reads a file. serviceProject is the project of OpenStack's services, for rules that name
// config.service_project_name; "" without Keystone.
func OpenPolicyFile(path, serviceProject string, log *slog.Logger) (*PolicyFile, error) {
	p := &PolicyFile{started: time.Now()}
	var err error
	p.files, err = reload.Open(log, func(c [][]byte) (*written, error) { return parsePolicy(c[0], serviceProject) }, path)
	if err != nil {
		return nil, err
	}
	p.current.Store(p.files.Get())
	return p, nil
}

// look takes over a file that has changed, at most once in lookEvery. A file with a fault is logged once, and the
// former rules stay in force.
func (p *PolicyFile) look() {
	if p == nil {
		return
	}
	now, last := time.Since(p.started).Nanoseconds(), p.looked.Load()
	if now-last >= lookEvery.Nanoseconds() && p.looked.CompareAndSwap(last, now) {
		p.current.Store(p.files.Get())
	}
}

// Step is the verdict on a caller that requests a step: by the rule baremetal:step:execute:INTERFACE.STEP of the file,
// or Allow without one.
func (p *PolicyFile) Step(c *Caller, iface, step string, t oslopolicy.Target) oslopolicy.Verdict {
	if p == nil || c == nil {
		return oslopolicy.Allow
	}
	check := p.current.Load().steps[stepRule+iface+"."+step]
	if check == nil {
		return oslopolicy.Allow
	}
	return check.Eval(c, &t)
}

// stepRule begins the names of rules for single steps.
const stepRule = "baremetal:step:execute:"

// elsewhere are rules of Ironic that have no row, with the reason.
var elsewhere = map[string]string{
	"show_password":                            masked,
	"show_instance_secrets":                    masked,
	"baremetal:node:list_all":                  allRecords,
	"baremetal:port:list_all":                  allRecords,
	"baremetal:portgroup:list_all":             allRecords,
	"baremetal:volume:list_all":                allRecords,
	"baremetal:allocation:list_all":            allRecords,
	"baremetal:runbook:list_all":               allRecords,
	"baremetal:inspection_rule:list_all":       allRecords,
	"baremetal:node:create:self_owned_node":    "write baremetal:node:create, which is for callers of projects, too",
	"baremetal:node:delete":                    "write baremetal:node:delete:self_owned_node, which is for all callers",
	"baremetal:node:get:filter_threshold":      "lists have no such threshold",
	"baremetal:allocation:create_pre_rbac":     "write baremetal:allocation:create",
	"baremetal:driver:ipa_lookup":              ofAgents,
	"baremetal:driver:ipa_continue_inspection": ofAgents,
	"baremetal:node:ipa_heartbeat":             ofAgents,
}

const (
	masked     = "secrets are masked for all callers"
	allRecords = "lists have all records for callers of the system, and its own for a project"
	ofAgents   = "agents have no user, and prove themselves by the tokens of their boot"
)

// parsePolicy reads the rules of a file.
func parsePolicy(raw []byte, serviceProject string) (*written, error) {
	policy := Policy()
	names := make([]string, len(policy))
	for i := range policy {
		names[i] = policy[i].Name
	}
	row := func(name string) *Rule {
		if i := slices.Index(names, name); i >= 0 {
			return &policy[i]
		}
		return nil
	}
	l := oslopolicy.Language{Names: names,
		Known: func(name string) error { return knownRule(name, row(name), names) },
		Default: func(name string) oslopolicy.Check {
			if r := row(name); r != nil {
				return asCheck{r}
			}
			return nil
		},
	}
	if serviceProject != "" {
		l.Constants = map[string]string{"config.service_project_name": serviceProject}
	}
	rules, err := oslopolicy.Parse(raw, l)
	if err != nil {
		return nil, err
	}
	w := &written{rows: make([]oslopolicy.Check, len(policy)), steps: oslopolicy.Rules{}}
	for name, check := range rules {
		if i := slices.Index(names, name); i >= 0 {
			w.rows[i] = check
		} else if strings.HasPrefix(name, stepRule) {
			w.steps[name] = check
		}
	}
	return w, nil
}

// knownRule refuses a name that has no effect. row is its row of the policy; nil for none.
func knownRule(name string, row *Rule, names []string) error {
	rest, ofStep := strings.CutPrefix(name, stepRule)
	switch {
	case row != nil && row.Public():
		return errors.New("expected a rule about callers that have logged in: anybody may do this; remove the line")
	case row != nil:
		return nil
	case elsewhere[name] != "":
		return fmt.Errorf("expected a rule with an effect: %s; remove the line", elsewhere[name])
	case ofStep:
		if nodeapi.IsStep(rest) {
			return nil
		}
		return fmt.Errorf("expected %sINTERFACE.STEP with an interface of %s", stepRule,
			strings.Join(nodeapi.StepInterfaces(), ", "))
	}
	return fmt.Errorf("expected a rule of the conductor, or a name that another rule refers to; found neither%s",
		nodeapi.DidYouMean(name, names))
}

// asCheck is a row of the policy, for rules that refer to it.
type asCheck struct{ row *Rule }

// Eval asks the row.
func (a asCheck) Eval(s oslopolicy.Subject, t *oslopolicy.Target) oslopolicy.Verdict {
	c, _ := s.(*Caller)
	switch {
	case t.Unread && !a.row.Conceivable(c):
		return oslopolicy.Deny
	case t.Unread && !a.row.Allows(c, otherProject, otherProject): // it depends on the owner, or the lessee
		return oslopolicy.Unknown
	case t.Unread:
		return oslopolicy.Allow
	case a.row.Allows(c, t.Owner, t.Lessee):
		return oslopolicy.Allow
	}
	return oslopolicy.Deny
}

// kindOfRecord is the kind of record that a rule is about, as keys of checks name it.
func kindOfRecord(rule string) string {
	for _, kind := range []string{"allocation", "runbook"} {
		if strings.HasPrefix(rule, "baremetal:"+kind+":") {
			return kind
		}
	}
	return "node"
}
