package jobs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan/rules"
)

// callAPI makes the GET that an inspection rule asks for. As in Ironic, it tries again if the server is busy or cannot
// be reached. Any other answer than success fails the inspection.
func (j *job) callAPI(ctx context.Context, c rules.Call) (any, error) {
	if j.RuleCalls == nil {
		return nil, errors.New("action api-call: this conductor makes no calls for rules")
	}
	client := *j.RuleCalls
	client.Timeout, client.CheckRedirect = c.Timeout, stayThere
	wait := time.Duration(c.Backoff * float64(time.Second))
	for try := 0; ; try++ {
		again, err := get(ctx, &client, c)
		if err == nil {
			return nil, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if !again || try >= c.Retries {
			return nil, node.Refuse(node.Invalid, "inspection rule %s: action api-call, tried %d times: %v", c.Rule, try+1, err)
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		wait *= 2
	}
}

// stayThere follows a redirect only on the same host, and never from https to http: the headers of a call may hold a
// token for that host alone.
func stayThere(to *http.Request, via []*http.Request) error {
	plain := via[0].URL.Scheme == "https" && to.URL.Scheme != "https"
	if len(via) >= 5 || to.URL.Host != via[0].URL.Host || plain {
		return fmt.Errorf("redirected to %s://%s, which is not followed: name that server in the rule", to.URL.Scheme,
			to.URL.Host)
	}
	return nil
}

// get makes one try, and reports whether another try could succeed.
func get(ctx context.Context, client *http.Client, c rules.Call) (again bool, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, c.URL, nil)
	if err != nil {
		return false, err
	}
	for name, value := range c.Headers {
		r.Header.Set(name, value)
	}
	answer, err := client.Do(r)
	if err != nil {
		var of *url.Error // its text repeats the whole URL
		if errors.As(err, &of) {
			err = of.Err
		}
		var refused interface{ Permanent() bool } // an address that is not called
		return !errors.As(err, &refused) || !refused.Permanent(), fmt.Errorf("GET from %s: %w", r.URL.Host, err)
	}
	defer answer.Body.Close()
	if _, err := io.Copy(io.Discard, io.LimitReader(answer.Body, 64<<10)); err != nil {
		return true, fmt.Errorf("GET from %s: %w", r.URL.Host, err)
	}
	switch answer.StatusCode {
	case http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable,
		http.StatusGatewayTimeout:
		return true, fmt.Errorf("GET from %s: %s", r.URL.Host, answer.Status)
	}
	if answer.StatusCode >= http.StatusBadRequest {
		return false, fmt.Errorf("GET from %s: %s", r.URL.Host, answer.Status)
	}
	return false, nil
}
