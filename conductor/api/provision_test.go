package api_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/api"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// asked refuses every verb, and remembers for whom it was.
type asked struct {
	oneHost
	project *string
}

func (a asked) RefuseVerb(_ context.Context, _ node.Node, r plan.Request) error {
	*a.project = r.Project
	return node.Refuse(node.Conflict, "it is the host's")
}

// TestVerbHasProject: a verb is for the project of its caller, whatever project the node belongs to.
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
