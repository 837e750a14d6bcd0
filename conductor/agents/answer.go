package agents

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/outbound/exchange"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Bounds on the text of an agent that errors repeat, in bytes: of a fault, and of an
// answer that is none.
const (
	maxSaid = 2048
	maxPage = 300
)

// Bounds of agents' answers. All agents together share agentRoom. Large answers share largeRoom for their bytes beyond
// maxAnswer. These are the logs of a machine, and a list of commands, which contains the config drive as often as it
// was sent.
const (
	maxAnswer = 4 << 20
	maxLarge  = 64 << 20
	maxValues = 50_000 // values and keys; ironic-python-agent keeps some hundred results
	agentRoom = 64 << 20
	largeRoom = 256 << 20
)

// mayBeLarge reports whether the answer may have up to maxLarge bytes.
func mayBeLarge(method, name string) bool {
	return method == http.MethodGet || name == "log.collect_system_logs"
}

// read takes an answer, of a refusal the beginning. Strings in it hold the output of
// programs and the names of disks. done ends the use of the answer.
func (c *Client) read(ctx context.Context, resp *http.Response, large bool) (b []byte, done func(), err error) {
	done = func() {}
	if resp.StatusCode >= http.StatusBadRequest {
		b, err = io.ReadAll(io.LimitReader(resp.Body, maxFault))
		return nodeapi.CleanJSON(b), done, err
	}
	most := maxAnswer
	b, end, err := c.room.Read(ctx, resp.Body, most, resp.Body.Close)
	if err == nil && large && len(b) > maxAnswer {
		most = maxLarge
		rest, endRest, restErr := c.large.Read(ctx, resp.Body, most-len(b), resp.Body.Close)
		b, err = append(b, rest...), restErr
		end = func(end func()) func() { return func() { endRest(); end() } }(end)
	}
	if err == nil && len(b) > most {
		err = fmt.Errorf("it has more than %d MiB", most>>20)
	}
	if err != nil {
		return nil, end, err
	}
	turn, err := exchange.Turn(ctx, len(b))
	return nodeapi.CleanJSON(b), func() { turn(); end() }, err
}

// refusal reads a fault. Agents say that they are busy by the status or by
// their words.
func refusal(status int, body []byte, token string) error {
	var f agentapi.Fault
	if err := nodeapi.DecodePeer(body, maxValues, &f); err != nil || f.String == "" {
		page := strings.Join(strings.Fields(said(string(body), token)), " ")
		f = agentapi.Fault{Code: "Client", String: page[:min(len(page), maxPage)]}
	}
	f.String = said(f.String, token)
	if status == http.StatusConflict || strings.Contains(strings.ToLower(f.String), "agent is busy") {
		return &BusyError{Text: f.String}
	}
	return &APIError{Status: status, Fault: f}
}

// said makes the text of an agent fit to be shown. Servers repeat the request's URL, which contains the token.
func said(text, token string) string {
	if token != "" {
		text = strings.ReplaceAll(text, token, nodeapi.Masked)
	}
	if text = nodeapi.Printable(text); len(text) > maxSaid {
		text = nodeapi.Printable(text[:maxSaid]) + " ... (cut short)"
	}
	return text
}

// quoted is an error that may repeat an agent at any length.
type quoted struct {
	error
	token string
}

func (q quoted) Error() string { return said(q.error.Error(), q.token) }

func (q quoted) Unwrap() error { return q.error }

// withoutURL takes the URL, and with it the token, out of an HTTP client's
// error.
func withoutURL(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}
