package api

import (
	"net/http"
	"sync"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// trialsAtOnce bounds the BMCs that are tested at a time: each holds a connection to an address that a caller names.
const trialsAtOnce = 8

// trialsOfProject bounds the tests of one project: its BMCs that hang leave places to other projects.
const trialsOfProject = 2

// trialResource tests the settings of BMCs before there is a node.
type trialResource struct {
	access
	nodes   *nodeResource
	now     func() time.Time
	running *trials
}

// trials counts the tests that run.
type trials struct {
	mu  sync.Mutex
	all int
	of  map[string]int // by project; trialsAtOnce alone bounds callers without a project
}

// begin takes a place for a test of a project, which end gives back.
func (t *trials) begin(project string) (end func(), err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case project != "" && t.of[project] >= trialsOfProject:
		return nil, node.Refuse(node.Busy, "%d BMCs of your project are being tested: try again in a minute", trialsOfProject)
	case t.all >= trialsAtOnce:
		return nil, node.Refuse(node.Busy, "%d BMCs are being tested: try again in a minute", trialsAtOnce)
	}
	t.all, t.of[project] = t.all+1, t.of[project]+1
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.all, t.of[project] = t.all-1, t.of[project]-1; t.of[project] == 0 {
			delete(t.of, project)
		}
	}, nil
}

func newTrialResource(at access, nodes *nodeResource, now func() time.Time) *trialResource {
	return &trialResource{access: at, nodes: nodes, now: now, running: &trials{of: map[string]int{}}}
}

func (h *trialResource) routes() []rest.Route {
	return []rest.Route{{Method: http.MethodPost, Path: nodeapi.FerriteRoot + "/bmc-test",
		Doc:    "log in at the BMC of a node that is not enrolled yet, and read its power state; nothing is stored",
		Handle: h.test, Wire: rest.Wire{Status: http.StatusOK, Takes: rest.FormOf(nodeapi.BMCTrial{}),
			Gives: rest.FormOf(nodeapi.BMCAnswer{})}}}
}

// test has the caller's rights and the limits of a node that is created with the same settings, and then verified.
func (h *trialResource) test(c *rest.Call) error {
	body, err := c.Object("bmc-test")
	if err != nil {
		return err
	}
	if err := rest.Unexpected(rest.SortedKeys(body), []string{"driver", "driver_info"}); err != nil {
		return err
	}
	if body["driver"] == nil {
		return rest.BadRequest("Schema error for bmc-test: 'driver' is a required property")
	}
	var n node.Node
	if err := h.nodes.fields.Fill(c.Minor, body, &n); err != nil {
		return err
	}
	n.Owner = c.Project()
	if err := checkPasswordAgain(nil, n.DriverInfo, nil); err != nil {
		return err
	}
	if err := h.permitNew(c, body, &n); err != nil {
		return err
	}
	if err := h.nodes.refuseSameMachine(c, n); err != nil {
		return err
	}
	end, err := h.running.begin(n.Owner)
	if err != nil {
		return err
	}
	defer end()
	began := h.now()
	power, err := h.conductor.TestBMC(c.Request().Context(), n)
	if err != nil {
		return err
	}
	return c.Marshal(http.StatusOK, nodeapi.BMCAnswer{PowerState: string(power), Seconds: h.now().Sub(began).Seconds()})
}
