package redfish

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"time"

	"github.com/stmcginnis/gofish"

	"github.com/ferrite-metal/ferrite/conductor/bmc/controller"
)

// account is the login at a BMC: user, password and the settings of the connection.
type account struct {
	user, password, auth, verify, root, tls, minimum, ciphers string

	connect, request time.Duration
}

// login is one user's way into one BMC.
type login struct {
	o       *Options
	base    string // scheme, host and port
	account account

	wire   *wire
	client *gofish.APIClient // nil while not logged in
	basic  bool              // credentials with every request, no session
	system string            // the only system, once it has been found

	session    Session // that Options.Sessions remembers
	unrecorded bool    // it could not be remembered: the next leader does not know the session
	ended      bool    // the sessions of earlier leaders are no more
}

// refuse is the error about wrong credentials.
func (l *login) refuse(cause error) error {
	cause = describe(cause)
	if passwordExpired(cause) {
		cause = fmt.Errorf("the password has expired, or is the factory's: set another for this user on the BMC, "+
			"then redfish_password; %w", cause)
	}
	return &controller.CredentialsError{Prefix: "redfish", User: l.account.user, Cause: cause}
}

// passwordExpired reports the BMC's demand for another password (DSP0266, 13.3.7). It refuses everything else until it
// gets one.
func passwordExpired(err error) bool {
	return strings.Contains(messageID(err), "PasswordChangeRequired")
}

// call does something, logging in first when there is no session, and once more
// when the BMC has forgotten ours.
func (l *login) call(ctx context.Context, t *target, do func(s *session) error) error {
	if l.wire != nil {
		l.wire.budget.begin()
	}
	defer func() {
		if l.wire != nil {
			l.wire.done()
		}
	}()
	fresh := l.client == nil
	if fresh {
		if err := l.connect(ctx, t); err != nil {
			return err
		}
	}
	err := l.once(ctx, t, do)
	if passwordExpired(err) {
		return l.refuse(err)
	}
	if status(err) != http.StatusUnauthorized {
		return err
	}
	if fresh || l.basic {
		return l.refuse(err)
	}
	l.o.Log.Debug("redfish session was forgotten, logging in again", "bmc", l.base)
	if err := l.connect(ctx, t); err != nil {
		return err
	}
	if err = l.once(ctx, t, do); status(err) == http.StatusUnauthorized {
		return l.refuse(err)
	}
	return err
}

func (l *login) once(ctx context.Context, t *target, do func(s *session) error) error {
	path := &l.system
	if t.system != "" {
		path = &t.system
	}
	return do(&session{ctx: ctx, client: l.client.WithContext(ctx), wire: l.wire, system: path, chosen: t.system != "",
		log: l.o.Log.With("bmc", l.base), rows: l.o.Quirks, pause: func() error { return pause(ctx, l.o.Pause) }})
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// connect logs in: by session, which costs the BMC least, or with the
// credentials in every request where sessions are not to be had.
func (l *login) connect(ctx context.Context, t *target) error {
	l.client, l.basic = nil, false
	if l.wire == nil {
		w, err := newWire(l.o, t)
		if err != nil {
			return err
		}
		l.wire = w
		l.wire.budget.begin()
	}
	if l.account.auth == "basic" || l.account.user == "" {
		err := l.open(ctx, true)
		if status(err) == http.StatusNotFound {
			return noServiceRoot(err)
		}
		return err
	}
	l.closed(ctx) // the BMC has forgotten it
	l.endLeft(ctx)
	before := l.wire.requests.Load()
	err := l.open(ctx, false)
	asked := l.wire.requests.Load() - before // 1: the service root, 2: the session too
	switch {
	case err == nil:
		l.opened(ctx)
		return nil
	case ctx.Err() != nil || isWire(err):
		return err
	case asked < 2 && status(err) != 0:
		return noServiceRoot(err)
	case badCredentials(err):
		return l.refuse(err)
	case l.account.auth == "session":
		return fmt.Errorf("create a session, as redfish_auth_type demands: %w", err)
	}
	l.o.Log.Warn("no session to be had, sending credentials with every request instead", "bmc", l.base, "err",
		describe(err))
	return l.open(ctx, true)
}

func (l *login) open(ctx context.Context, basic bool) error {
	l.wire.expect(reflect.TypeFor[gofish.Service]())
	client, err := gofish.ConnectContext(ctx, gofish.ClientConfig{
		Endpoint: l.base, Username: l.account.user, Password: l.account.password, BasicAuth: basic,
		HTTPClient: &http.Client{Transport: l.wire, CheckRedirect: sameHost}, NoModifyTransport: true,
		MaxConcurrentRequests: 1, ReuseConnections: true,
	})
	if err != nil {
		return err
	}
	l.client, l.basic = client, basic
	return nil
}

// Logout gives the session back.
func (l *login) Logout(ctx context.Context) error {
	if l.wire != nil {
		defer l.wire.late.await(ctx)
	}
	if l.client == nil {
		return nil
	}
	client := l.client.WithContext(ctx)
	l.client = nil
	l.wire.budget.begin()
	defer l.wire.close()
	s, err := client.GetSession()
	if err != nil {
		return nil // basic authentication has none
	}
	err = client.Service.DeleteSession(s.ID)
	if isWire(err) && l.unrecorded {
		err = l.wire.farewell(ctx, l.session)
	}
	if err != nil && status(err) != http.StatusUnauthorized && status(err) != http.StatusNotFound {
		return describe(err)
	}
	l.closed(ctx)
	return nil
}
