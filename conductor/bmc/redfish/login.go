package redfish

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/stmcginnis/gofish"
)

// account is whom we are to a BMC, and how.
type account struct {
	user, password, auth, verify, root string
}

// login is one user's way into one BMC.
type login struct {
	c       *controller
	account account

	wire   *wire
	client *gofish.APIClient // nil while not logged in
	basic  bool              // credentials with every request, no session
	system string            // the only system, once it has been found

	refusal error // what the BMC said to these credentials
	until   time.Time
}

// refused answers for the BMC while it would only say no again.
func (l *login) refused() error {
	if time.Now().Before(l.until) {
		return l.refusal
	}
	return nil
}

// refuse remembers that the credentials are no good. A session that was given
// for them nevertheless goes back.
func (l *login) refuse(ctx context.Context, cause error) error {
	if err := l.logout(ctx); err != nil {
		l.c.o.Log.Warn("session not given back, it will run out by itself", "bmc", l.c.base, "err", err)
	}
	l.refusal = &credentialsError{l.account.user, describe(cause)}
	l.until = time.Now().Add(l.c.o.RefusedFor)
	return l.refusal
}

// call does something, logging in first when there is no session, and once more
// when the BMC has forgotten ours.
func (l *login) call(ctx context.Context, t *target, do func(s *session) error) error {
	fresh := l.client == nil
	if fresh {
		if err := l.connect(ctx, t); err != nil {
			return err
		}
	}
	err := l.once(ctx, t, do)
	if status(err) != http.StatusUnauthorized {
		return err
	}
	if fresh || l.basic {
		return l.refuse(ctx, err)
	}
	l.c.o.Log.Debug("redfish session was forgotten, logging in again", "bmc", l.c.base)
	if err := l.connect(ctx, t); err != nil {
		return err
	}
	if err = l.once(ctx, t, do); status(err) == http.StatusUnauthorized {
		return l.refuse(ctx, err)
	}
	return err
}

func (l *login) once(ctx context.Context, t *target, do func(s *session) error) error {
	path := &l.system
	if t.system != "" {
		path = &t.system
	}
	return do(&session{client: l.client.WithContext(ctx), system: path, log: l.c.o.Log})
}

// connect logs in: by session, which costs the BMC least, or with the
// credentials in every request where sessions are not to be had.
func (l *login) connect(ctx context.Context, t *target) error {
	l.client, l.basic = nil, false
	if l.wire == nil {
		w, err := newWire(l.c.o, t)
		if err != nil {
			return err
		}
		l.wire = w
	}
	if l.account.auth == "basic" || l.account.user == "" {
		return l.open(ctx, true)
	}
	before := l.wire.requests.Load()
	err := l.open(ctx, false)
	asked := l.wire.requests.Load() - before // 1: the service root, 2: the session too
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil || isWire(err):
		return err
	case asked < 2 && status(err) != 0:
		return fmt.Errorf("read the service root: %w", err)
	case badCredentials(err):
		return l.refuse(ctx, err)
	case l.account.auth == "session":
		return fmt.Errorf("create a session, as redfish_auth_type demands: %w", err)
	}
	l.c.o.Log.Warn("no session to be had, sending credentials with every request instead", "bmc", l.c.base, "err", describe(err))
	return l.open(ctx, true)
}

func (l *login) open(ctx context.Context, basic bool) error {
	client, err := gofish.ConnectContext(ctx, gofish.ClientConfig{
		Endpoint: l.c.base, Username: l.account.user, Password: l.account.password, BasicAuth: basic,
		HTTPClient: &http.Client{Transport: l.wire, CheckRedirect: sameHost}, NoModifyTransport: true,
		MaxConcurrentRequests: 1, ReuseConnections: true,
	})
	if err != nil {
		return err
	}
	l.client, l.basic = client, basic
	return nil
}

// logout gives the session back.
func (l *login) logout(ctx context.Context) error {
	if l.client == nil {
		return nil
	}
	client := l.client.WithContext(ctx)
	l.client = nil
	defer l.wire.close()
	s, err := client.GetSession()
	if err != nil {
		return nil // there is none with basic authentication
	}
	if err := client.Service.DeleteSession(s.ID); err != nil && status(err) != http.StatusUnauthorized && status(err) != http.StatusNotFound {
		return describe(err)
	}
	return nil
}
