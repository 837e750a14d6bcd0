package api_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/api"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// TestEmptyConfigDrive: an empty config drive is none, with any verb and version (check_allow_configdrive of Ironic).
func TestEmptyConfigDrive(t *testing.T) {
	c := newConductor(t)
	id := managed(t, c, `{"name":"n1","driver":"fake-hardware"}`)
	c.provision(id, "provide")
	for _, drive := range []string{`""`, `{}`} {
		for _, target := range []string{"active", "deleted"} {
			c.must(http.StatusAccepted, 34, "PUT", "/v1/nodes/n1/states/provision",
				`{"target":"`+target+`","configdrive":`+drive+`}`)
			if n := c.settle(id); n.InstanceInfo["configdrive"] != nil || n.LastError != "" {
				t.Errorf("%s with configdrive %s leaves %v, %q", target, drive, n.InstanceInfo, n.LastError)
			}
		}
	}
}

// asked refuses every verb, and remembers its project.
type asked struct{ project *string }

func (a asked) RefuseVerb(_ context.Context, _ node.Node, r plan.Request) error {
	*a.project = r.Project
	return node.Refuse(node.Conflict, "it is the host's")
}

// TestVerbHasProject: a verb is for the project of its caller, even on a node of another project.
func TestVerbHasProject(t *testing.T) {
	project := ""
	g := newGuardedConductor(t, func(o *api.Options) { o.Hosts = asked{project: &project} })
	e := g.estate()
	for _, want := range []string{owner, ""} {
		project = "none"
		r := g.as("admin "+want, http.MethodPut, "/v1/nodes/"+e.node+"/states/provision", `{"target":"manage"}`)
		if r.status != http.StatusConflict || project != want {
			t.Errorf("an admin of %q: %d, asked for %q", want, r.status, project)
		}
	}
}
