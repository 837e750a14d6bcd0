package rules

import (
	"fmt"
	"net/url"
	"time"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Bounds of a rule's calls. Ironic has none.
const (
	maxCalls   = 20
	maxTimeout = 60 * time.Second
	maxRetries = 10
	maxBackoff = 10.0
)

// callAPI notes a call. It is made once the rest of the rules' work is saved,
// not in the midst of it: rules take no time.
func callAPI(r *evaluation, a args) error {
	if len(r.out.Calls) >= maxCalls {
		return fmt.Errorf("the rules of one inspection may call %d times", maxCalls)
	}
	c := Call{Rule: r.by.UUID}
	var err error
	if c.URL, err = a.text("url"); err != nil {
		return err
	}
	u, err := url.Parse(c.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return fmt.Errorf("url %q is not the URL of an HTTP server", safe(c.URL))
	}
	headers, ok := a["headers"].(map[string]any)
	if !ok && a["headers"] != nil {
		return fmt.Errorf("headers must be an object, not %s", nodeapi.JSONKind(a["headers"]))
	}
	for name, v := range headers {
		if c.Headers == nil {
			c.Headers = map[string]string{}
		}
		if c.Headers[name], err = (args{name: v}).text(name); err != nil {
			return fmt.Errorf("headers: %w", err)
		}
	}
	timeout, err := a.number("timeout", 5, maxTimeout.Seconds())
	if err != nil {
		return err
	}
	retries, err := a.number("retries", 3, maxRetries)
	if err != nil {
		return err
	}
	if c.Backoff, err = a.number("backoff_factor", 0.3, maxBackoff); err != nil {
		return err
	}
	if timeout == 0 {
		return fmt.Errorf("timeout must be greater than zero")
	}
	c.Timeout, c.Retries = time.Duration(timeout*float64(time.Second)), int(retries)
	r.out.Calls = append(r.out.Calls, c)
	return nil
}
