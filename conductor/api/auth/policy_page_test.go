package auth

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the generated tables")

// TestPolicyPage: the page of the policy file lists all rules with their roles.
func TestPolicyPage(t *testing.T) {
	const page, begin, end = "../../../docs/operate/policy-file.md", "<!-- generated: policy -->\n",
		"<!-- end of generated: policy -->"
	var table strings.Builder
	table.WriteString("| rule | system | owner | lessee | any project |\n|---|---|---|---|---|\n")
	for _, r := range Policy() {
		if r.Public() {
			continue
		}
		fmt.Fprintf(&table, "| `%s`", r.Name)
		for _, role := range []Role{r.System, r.Owner, r.Lessee, r.Any} {
			name := "-"
			if role != no {
				name = role.String()
			}
			table.WriteString(" | " + name)
		}
		table.WriteString(" |\n")
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), begin)
	was, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatalf("%s has no table of rules", page)
	}
	if *update {
		if err := os.WriteFile(page, []byte(before+begin+table.String()+end+after), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(was, table.String()); diff != "" {
		t.Errorf("%s (-want +got):\n%s", page, diff)
	}
}
