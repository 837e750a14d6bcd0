package auth

import "testing"

func TestAllows(t *testing.T) {
	rule := &Rule{Name: "x", System: Operator, Owner: Operator, Lessee: Admin}
	list := &Rule{Name: "x", System: Reader, Any: Reader}
	for name, tc := range map[string]struct {
		rule          *Rule
		role          Role
		project       string
		owner, lessee string
		want          bool
	}{
		"a system operator":                  {rule, Operator, "", "a", "b", true},
		"a system reader":                    {rule, Reader, "", "a", "b", false},
		"an owner":                           {rule, Operator, "a", "a", "b", true},
		"a lessee":                           {rule, Operator, "b", "a", "b", false},
		"a lessee's admin":                   {rule, Admin, "b", "a", "b", true},
		"whom it does not concern":           {rule, Admin, "c", "a", "b", false},
		"a node of nobody":                   {rule, Admin, "c", "", "", false},
		"a list":                             {list, Reader, "c", "", "", true},
		"a stranger":                         {list, Stranger, "", "", "", false},
		"a role nobody has":                  {&Rule{Name: "x"}, Admin, "", "", "", false},
		"what is not in the policy":          {Rules{}.Of("GET", "/v1/new/:thing", ""), Admin, "", "", "", true},
		"the same, a system operator":        {Rules{}.Of("GET", "/v1/new/:thing", ""), Operator, "", "", "", false},
		"the same, an admin of some project": {Rules{}.Of("GET", "/v1/new/:thing", ""), Admin, "c", "c", "c", false},
	} {
		if got := tc.rule.Allows(&Caller{Role: tc.role, Project: tc.project}, tc.owner, tc.lessee); got != tc.want {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
	}
}
