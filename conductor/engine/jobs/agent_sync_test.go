package jobs_test

import (
	"errors"
	"net/http"
	"testing"
	"testing/synctest"

	client "github.com/ferrite-metal/ferrite/conductor/agents"
	"github.com/ferrite-metal/ferrite/conductor/engine/enginetest"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

// TestAgentWithoutSync: an agent without standby.sync deploys all the same; a failed sync fails the deploy.
func TestAgentWithoutSync(t *testing.T) {
	for name, c := range map[string]struct {
		answer error
		ends   node.State
	}{
		"unknown command":   {&client.APIError{Status: http.StatusBadRequest}, node.Active},
		"unknown extension": {&client.APIError{Status: http.StatusNotFound}, node.Active},
		"refused":           {&client.APIError{Status: http.StatusUnauthorized}, node.DeployFailed},
		"broken":            {errors.New("no answer"), node.DeployFailed},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := enginetest.New(t, 1)
				w.Syncing = c.answer
				w.Images = &finder{}
				w.Start()
				defer w.Close()
				w.Ask(deployable(w, "file:///srv/os.raw"), node.Deploy, c.ends)
			})
		})
	}
}
