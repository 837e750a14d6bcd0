package oslopolicy_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/api/auth/oslopolicy"
)

// caller has a role and a project, and the other attributes by name.
type caller struct {
	roles string
	has   map[string]string
}

func (c caller) Has(role string) bool {
	return slices.Contains(strings.Fields(c.roles), strings.ToLower(role))
}

func (c caller) Attribute(name string) (string, bool) {
	value, has := c.has[name]
	return value, has
}

func member(project string) caller {
	return caller{"member reader", map[string]string{"project_id": project, "user_id": "u1", "is_admin": "False"}}
}

var root = caller{"admin member reader", map[string]string{"system_scope": "all", "is_admin": "True"}}

// language knows the rules a, b, c, and the default of d: never.
func language() oslopolicy.Language {
	names := []string{"a", "b", "c", "d"}
	return oslopolicy.Language{Names: names,
		Known: func(name string) error {
			if slices.Contains(names, name) {
				return nil
			}
			return errors.New("no rule")
		},
		Default: func(name string) oslopolicy.Check {
			if name == "d" {
				return never{}
			}
			return nil
		},
		Constants: map[string]string{"config.service_project_name": "service"},
	}
}

type never struct{}

func (never) Eval(oslopolicy.Subject, *oslopolicy.Target) oslopolicy.Verdict { return oslopolicy.Deny }

func TestEval(t *testing.T) {
	red := &oslopolicy.Target{Kind: "node", Owner: "red", Lessee: "blue"}
	free := &oslopolicy.Target{Kind: "node"}
	unread := &oslopolicy.Target{Kind: "node", Unread: true}
	claim := &oslopolicy.Target{Kind: "allocation", Owner: "red"}
	const y, n, u = oslopolicy.Allow, oslopolicy.Deny, oslopolicy.Unknown
	for _, tc := range []struct {
		rule string
		who  caller
		on   *oslopolicy.Target
		want oslopolicy.Verdict
	}{
		{`"@"`, member("x"), red, y},
		{`"!"`, root, red, n},
		{`""`, member("x"), red, y},
		{`[]`, member("x"), red, y},
		{`[[]]`, root, red, n},
		{`"role:Member"`, member("x"), red, y},
		{`"role:admin"`, member("x"), red, n},
		{`"not role:admin"`, member("x"), red, y},
		{`"project_id:%(node.owner)s"`, member("red"), red, y},
		{`"project_id:%(owner)s"`, member("red"), red, y},
		{`"project_id:%(node.owner)s"`, member("blue"), red, n},
		{`"project_id:%(node.lessee)s"`, member("blue"), red, y},
		{`"project_id:%(node.owner)s"`, member("red"), unread, u},
		{`"not project_id:%(node.owner)s"`, member("red"), unread, u},
		{`"role:admin and project_id:%(node.owner)s"`, member("red"), unread, n},
		{`"role:member or project_id:%(node.owner)s"`, member("red"), unread, y},
		{`"project_id:%(allocation.owner)s"`, member("red"), claim, y},
		{`"project_id:%(node.owner)s"`, member("red"), claim, n},  // the target has no such key
		{`"project_id:%(node.owner)s"`, root, free, n},            // None is not None here
		{`"project_id:%(node.lessee)s"`, member("None"), free, n}, // nor a project of that name
		{`"project_id:%(node.owner)s"`, member("None"), free, n},  // nor here
		{`"None:%(node.owner)s"`, member("red"), free, y},         // free for all
		{`"None:%(node.owner)s"`, member("red"), red, n},          //
		{`"project_id:None"`, root, red, y},                       // a caller of no project
		{`"project_id:None"`, member("red"), red, n},              //
		{`"system_scope:all and is_admin:True"`, root, red, y},    //
		{`"'red':%(node.owner)s"`, member("x"), red, y},           //
		{`"user_id:u1"`, member("x"), red, y},                     //
		{`"project_id:%(project_id)s"`, member("x"), red, y},      // the caller's own
		{`"'x-red':%(project_id)s-%(node.owner)s"`, member("x"), red, y},
		{`"'service':%(config.service_project_name)s"`, member("x"), red, y},
		{`"role:a or role:member and role:reader"`, member("x"), red, y}, // and binds first
		{`"role:member or role:a and role:b"`, member("x"), red, y},
		{`"(role:member or role:a) and role:b"`, member("x"), red, n},
		{`"not (role:a or role:b) and role:member"`, member("x"), red, y},
		{`"not not role:member"`, member("x"), red, y},
		{`"ROLE:member or role:reader"`, member("x"), red, u}, // refused: see below
		{`["role:a", ["role:member", "role:reader"]]`, member("x"), red, y},
		{`[["role:member", "role:a"]]`, member("x"), red, n},
		{`"rule:d or role:member"`, member("x"), red, y},
		{`"rule:is_node_owner"`, member("red"), red, y},
		{`"rule:is_admin"`, root, red, y},
		{`"rule:mine"`, member("red"), red, y},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			rules, err := oslopolicy.Parse([]byte("a: "+tc.rule+"\nb: rule:mine\nmine: project_id:%(node.owner)s\n"), language())
			if strings.Contains(tc.rule, "ROLE") {
				if err == nil {
					t.Fatal("an attribute in capitals was taken")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := rules["a"].Eval(tc.who, tc.on); got != tc.want {
				t.Errorf("%v, want %v", got, tc.want)
			}
		})
	}
}

// TestRefused: a fault names its line, the expectation and the finding.
func TestRefused(t *testing.T) {
	var deep, wide, many, wrong strings.Builder // r0 has one check, and each next rule twice the checks of the one before
	fmt.Fprintf(&deep, "a: %q\n", strings.Repeat("(", 60)+"role:x"+strings.Repeat(")", 60))
	wide.WriteString("r0: role:x\n")
	for i := range 30 {
		fmt.Fprintf(&wide, "r%d: rule:r%d and rule:r%d\n", i+1, i, i)
	}
	wide.WriteString("a: rule:r30\n")
	for i := range 2001 {
		fmt.Fprintf(&many, "x%d: role:x\n", i)
	}
	wrong.WriteString(strings.Join(strings.Split(many.String(), "\n")[:1000], "\n"))
	bomb := "a: &a [\"role:x\"]\nb: &b [*a, *a, *a]\nc: [*b, *b, *b]\n"
	for text, want := range map[string]string{
		strings.Repeat("x", 101) + ": role:x\n": `rule "` + strings.Repeat("x", 30) + `"...: expected a name of at most 100`,
		many.String():                           "expected at most 2000 rules, found 2001",
		wrong.String():                          "line 20: rule x19: no rule\nthere may be more faults",
		"- a\n":                                 "line 1: expected a map of rules to checks, found a list",
		"a: role:x\nb: role:y\na: role:z\n":     "line 3: rule a: expected each rule once, found it in line 1, too",
		"\n\nx:y: role:x\n":                     "line 3: rule x:y: no rule",
		"helper: role:x\n":                      "line 1: rule helper: no rule",
		"a: role:x\nb: rule:c or rule:bb\n":     `line 2: rule b: expected a rule of the file or of the conductor, found rule:c`,
		"a: rule:bb\n":                          "found rule:bb (did you mean b?)",
		"a: rule:b\nb: rule:c\nc: rule:a\n":     "found a -> b -> c -> a",
		"a: rule:a\n":                           "expected rules that do not lead back to themselves, found a -> a",
		"a: true\n":                             `line 1: rule a: expected a check in quotes, or a list of checks, found "true"`,
		"a: True:x or admin\n":                  `found "admin"`,
		"a: {b: c}\n":                           "found a map",
		"a: role:x role:y\n":                    `expected and, or, or the end behind a check, found "role:y"`,
		"a: role:x and\n":                       "found the end of the rule",
		"a: (role:x\n":                          "expected ) for each (",
		"a: '   '\n":                            "found only spaces",
		"a: role:x)\n":                          `found ")"`,
		"a: http://policy.example/%(owner)s\n":  "the conductor decides alone",
		"a: projekt_id:%(owner)s\n":             "(did you mean project_id?)",
		"a: project_id:%(node.ower)s\n":         "(did you mean node.owner?)",
		"a: project_id:%(owner)d\n":             `expected %(NAME)s, found "%(owner)d"`,
		"a: role:x\n---\nb: role:y\n":           "expected one YAML document",
		"a: [x: y\n":                            "yaml: line",
		deep.String():                           "at most 50 parentheses",
		wide.String():                           "expected at most 10000 checks with the rules that it refers to",
		bomb:                                    "line 2: rule b: expected a check in quotes, or a list of checks, found an",
		"a: " + strings.Repeat(" ", 10<<20):     "expected at most 1048576 bytes, found 10485763",
		"a: role:x" + strings.Repeat(" or role:x", 1000) + "\n": "at most 1000 checks",
	} {
		if _, err := oslopolicy.Parse([]byte(text), language()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %v, want %q", text, err, want)
		}
	}
}

// TestJSON: the same rules in JSON, indented by tabs; and files without rules.
func TestJSON(t *testing.T) {
	rules, err := oslopolicy.Parse([]byte("{\n\t\"a\": \"role:member\",\n\t\"b\": [[\"role:x\"]]\n}\n"), language())
	if err != nil || rules["a"].Eval(member("x"), &oslopolicy.Target{}) != oslopolicy.Allow || len(rules) != 2 {
		t.Errorf("%v %v", rules, err)
	}
	for _, text := range []string{"", "# none\n", "null\n", "{}"} {
		if rules, err := oslopolicy.Parse([]byte(text), language()); err != nil || len(rules) != 0 {
			t.Errorf("%q: %v %v", text, rules, err)
		}
	}
}

// FuzzParse: no file makes it panic, hang, or return a rule that cannot be evaluated.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"a: role:x and (not project_id:%(node.owner)s or @)\nb: [[\"role:x\", \"!\"], []]\n", "a: rule:b\nb: rule:a\n",
		"{\"a\": \"'x':%(owner)s\"}", "a: &x [*x]\n", "a: '%%%(user_id)s'\n", "? [a]\n: b\n", "<<: {a: b}\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		rules, err := oslopolicy.Parse(raw, language())
		if err != nil {
			return
		}
		for name, check := range rules {
			for _, on := range []*oslopolicy.Target{{Kind: "node", Owner: "x"}, {Unread: true}} {
				if v := check.Eval(member("x"), on); v < oslopolicy.Deny || v > oslopolicy.Allow {
					t.Errorf("%s: %d", name, v)
				}
			}
		}
	})
}

// TestHelpersOfFile: a helper that refers to another helper takes the one of the file.
func TestHelpersOfFile(t *testing.T) {
	rules, err := oslopolicy.Parse([]byte("admin_api: role:superadmin\na: rule:is_admin\n"), language())
	if err != nil {
		t.Fatal(err)
	}
	on := &oslopolicy.Target{Kind: "node"}
	if got := rules["a"].Eval(root, on); got != oslopolicy.Deny {
		t.Errorf("an admin has the rule of superadmins: %v", got)
	}
	if got := rules["a"].Eval(caller{roles: "superadmin"}, on); got != oslopolicy.Allow {
		t.Errorf("a superadmin has not: %v", got)
	}
	_, err = oslopolicy.Parse([]byte("admin_api: rule:is_admin\na: role:x\n"), language())
	if err == nil || !strings.Contains(err.Error(), "do not lead back to themselves") {
		t.Errorf("a circle by way of a helper: %v", err)
	}
}
