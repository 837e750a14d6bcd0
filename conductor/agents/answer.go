package agents

import (
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

// read takes an answer, of a refusal the beginning: strings in it hold what
// programs said and disks are called.
func read(resp *http.Response) ([]byte, error) {
	if resp.StatusCode >= http.StatusBadRequest {
		b, err := io.ReadAll(io.LimitReader(resp.Body, maxFault))
		return nodeapi.CleanJSON(b), err
	}
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err == nil && len(b) > maxAnswer {
		err = fmt.Errorf("it has more than %d MiB", maxAnswer>>20)
	}
	if err != nil {
		return nil, err
	}
	return nodeapi.CleanJSON(b), nil
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
