package agents

import (
	"net/http"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
	"github.com/ferrite-metal/ferrite/proto/clientaddr"
)

// callerOf is what a ramdisk shows of itself. Ours names its boot's one-time word
// in a header; ironic-python-agent knows only the URL that it is to send its
// inspection data to, which holds it.
func callerOf(r *http.Request) node.Caller {
	c := node.Caller{From: clientaddr.Of(r), Word: r.Header.Get(agentapi.BootWordHeader),
		BootMode: r.Header.Get(agentapi.BootModeHeader)}
	if c.Word == "" {
		c.Word = r.URL.Query().Get(agentapi.BootWordParameter)
	}
	// Agents of ours did not name themselves before they knew of words; ironic-python-agent is python-requests.
	c.Old = strings.HasPrefix(r.UserAgent(), "Go-http-client/")
	return c
}
