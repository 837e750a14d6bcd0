package api_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// TestCleanLimit: a cleaning beyond the limit is refused in Ironic's words, and the client is to try again. The limit
// does not apply to the verb provide.
func TestCleanLimit(t *testing.T) {
	c := newConductor(t)
	limit := plan.DefaultSettings().MaxConcurrentClean
	for i := range limit + 2 {
		c.must(http.StatusCreated, 82, "POST", "/v1/nodes", fmt.Sprintf(`{"driver":"fake-hardware","name":"n%d"}`, i))
		c.must(http.StatusAccepted, 82, "PUT", fmt.Sprintf("/v1/nodes/n%d/states/provision", i), `{"target":"manage"}`)
	}
	for i := range limit + 2 {
		c.settle(fmt.Sprintf("n%d", i))
	}
	release := c.BMC.Hold()
	defer release()
	const clean = `{"target":"clean","clean_steps":[{"interface":"bios","step":"factory_reset"},{"interface":"power","step":"reboot"}]}`
	for i := range limit {
		c.must(http.StatusAccepted, 87, "PUT", fmt.Sprintf("/v1/nodes/n%d/states/provision", i), clean)
	}
	last := fmt.Sprintf("/v1/nodes/n%d/states/provision", limit)
	r := c.must(http.StatusServiceUnavailable, 87, "PUT", last, clean)
	if want := "Unable to process request at this time. The concurrent action limit for cleaning has been reached. " +
		"Please contact your administrator and try again later."; r.text() != want {
		t.Errorf("refused with %q, want %q", r.text(), want)
	}
	c.must(http.StatusAccepted, 87, "PUT", fmt.Sprintf("/v1/nodes/n%d/states/provision", limit+1), `{"target":"provide"}`)
	release()
	for i := range limit {
		c.settle(fmt.Sprintf("n%d", i))
	}
	c.must(http.StatusAccepted, 87, "PUT", last, clean)
}
