package ipmi

import (
	"context"
	"errors"
	"time"
)

// login is one user's way into one BMC.
type login struct {
	o       *Options
	address string // host:port
	account account

	session *session // nil while not logged in
}

// call does something, logging in first when there is no session, and once
// more when the BMC seems to have forgotten ours: it answers nothing then.
func (l *login) call(ctx context.Context, do func(ctx context.Context, s *session) error) error {
	fresh := l.session == nil
	if !fresh {
		l.session.tries = triesOld
	} else if err := l.connect(ctx); err != nil {
		return err
	}
	err := l.once(ctx, do)
	if fresh || !isWire(err) || ctx.Err() != nil {
		return err
	}
	l.o.Log.Debug("ipmi session was forgotten, logging in again", "bmc", l.address, "err", err)
	if err := l.connect(ctx); err != nil {
		return err
	}
	return l.once(ctx, do)
}

func (l *login) once(ctx context.Context, do func(ctx context.Context, s *session) error) error {
	err := do(ctx, l.session)
	if isWire(err) && ctx.Err() == nil { // no use in saying goodbye
		l.session.wire.Conn.Close()
		l.session = nil
	}
	return err
}

// connect logs in. A message of the setup that got lost cannot be sent again
// by itself, so the setup begins anew, more patiently each time.
func (l *login) connect(ctx context.Context) error {
	start, timeout := time.Now(), l.o.RequestTimeout
	for try := 1; ; try++ {
		s, err := l.setup(ctx, timeout)
		if err == nil {
			s.timeout, s.tries = l.o.RequestTimeout, triesFresh
			l.session = s
			return nil
		}
		var e *wireError
		if errors.As(err, &e) {
			e.took = time.Since(start)
		}
		if e == nil || !e.silence() || ctx.Err() != nil || try == triesFresh {
			return err
		}
		timeout *= 2
	}
}

// setup makes a session with the best cipher suite that the BMC takes.
func (l *login) setup(ctx context.Context, timeout time.Duration) (s *session, err error) {
	for _, c := range l.account.offered() {
		var refused *cipherError
		if s, err = l.open(ctx, c, timeout); !errors.As(err, &refused) {
			return s, err
		}
	}
	return nil, l.account.refusedCipher(err)
}

// Logout gives the session back.
func (l *login) Logout(ctx context.Context) error {
	if l.session == nil {
		return nil
	}
	s := l.session
	l.session = nil
	return s.close(ctx)
}
