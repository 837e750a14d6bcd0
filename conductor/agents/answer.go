package agents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/ferrite-metal/ferrite/proto/agentapi"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Bounds on the text of an agent that errors repeat, in bytes: of a fault, and of an
// answer that is none.
const (
	maxSaid = 2048
	maxPage = 300
)

// Answers longer than freeAnswer, such as the logs of a machine, are taken from
// maxLarge agents at a time: a worker each would take gigabytes from hostile ones.
const (
	freeAnswer = 4 << 20
	maxLarge   = 4
)

// read takes an answer, of a refusal the beginning. Strings in it hold the output of
// programs and the names of disks. done ends the use of the answer.
func (c *Client) read(ctx context.Context, resp *http.Response) (b []byte, done func(), err error) {
	done = func() {}
	if resp.StatusCode >= http.StatusBadRequest {
		b, err = io.ReadAll(io.LimitReader(resp.Body, maxFault))
		return nodeapi.CleanJSON(b), done, err
	}
	b, err = io.ReadAll(io.LimitReader(resp.Body, freeAnswer+1))
	if err == nil && len(b) > freeAnswer {
		select {
		case c.large <- struct{}{}:
			done = func() { <-c.large }
		case <-ctx.Done():
			return nil, done, fmt.Errorf("it has more than %d MiB, and waited for %d such answers of other agents: %w",
				freeAnswer>>20, maxLarge, ctx.Err())
		}
		var rest []byte
		rest, err = io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1-int64(len(b))))
		b = append(b, rest...)
	}
	if err == nil && len(b) > maxAnswer {
		err = fmt.Errorf("it has more than %d MiB", maxAnswer>>20)
	}
	if err != nil {
		return nil, done, err
	}
	return nodeapi.CleanJSON(b), done, nil
}

// refusal reads a fault. Agents say that they are busy by the status or by
// their words.
func refusal(status int, body []byte, token string) error {
	var f agentapi.Fault
	if err := json.Unmarshal(body, &f); err != nil || f.String == "" {
		page := strings.Join(strings.Fields(said(string(body), token)), " ")
		f = agentapi.Fault{Code: "Client", String: page[:min(len(page), maxPage)]}
	}
	f.String = said(f.String, token)
	if status == http.StatusConflict || strings.Contains(strings.ToLower(f.String), "agent is busy") {
		return &BusyError{Text: f.String}
	}
	return &APIError{Status: status, Fault: f}
}

// said is text of an agent as people may read it. Servers repeat what they were
// asked for, in which the token is.
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
