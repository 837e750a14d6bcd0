package agents

import (
	"net/http"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
	"github.com/ferrite-metal/ferrite/proto/clientaddr"
)

// callerOf is the evidence of a ramdisk's identity in a request. Our agent sends its boot's one-time token in a header.
// ironic-python-agent knows only the URL for its inspection data, which contains the word.
func callerOf(r *http.Request) node.Caller {
	c := node.Caller{From: clientaddr.Of(r), Word: r.Header.Get(agentapi.BootWordHeader),
		BootMode: r.Header.Get(agentapi.BootModeHeader)}
	if c.Word == "" {
		c.Word = r.URL.Query().Get(agentapi.BootWordParameter)
	}
	// Our earlier agents without words had no User-Agent of their own; ironic-python-agent is python-requests.
	c.Old = strings.HasPrefix(r.UserAgent(), "Go-http-client/")
	return c
}
