package redfish

import (
	"context"
	"net/http"
)

// Session is a session of ours at a BMC.
type Session struct{ Path, Token string }

// Sessions remember our sessions outside of this process, so that the next leader can end the sessions of a leader that
// was killed. Addresses are as nodes have them. Left is called before the first login of a user at a BMC, Opened after
// a login, and Closed after a session's end. An error is logged and does not stop the driver: at worst, that session
// runs out by itself.
type Sessions interface {
	// Left are the sessions of a user that earlier leaders have left at a BMC.
	Left(ctx context.Context, address, user string) ([]Session, error)
	Opened(ctx context.Context, address, user string, s Session) error
	Closed(ctx context.Context, address, user string, s Session) error
}

// endLeft ends the sessions that earlier leaders have left, by their own tokens: before the first login, since a BMC
// may have no room for another session, and since a leader that wakes up must not be let in.
func (l *login) endLeft(ctx context.Context) {
	if l.o.Sessions == nil || l.ended {
		return
	}
	log := l.o.Log.With("bmc", l.base)
	left, err := l.o.Sessions.Left(ctx, l.base, l.account.user)
	if err != nil {
		log.Warn("sessions of the last leader are not known, they will run out by themselves", "err", err)
		return
	}
	for _, s := range left {
		answered, err := l.end(ctx, s)
		if !answered {
			return // the login returns the reason, and the next one tries again
		}
		if err != nil {
			log.Warn("a session of the last leader was not ended, it will run out by itself", "err", describe(err))
		} else {
			log.Info("a session of the last leader was ended")
		}
		l.note("forgotten", l.o.Sessions.Closed(ctx, l.base, l.account.user, s))
	}
	l.ended = true
}

// end ends a session. A session that is unknown to the BMC has ended already.
func (l *login) end(ctx context.Context, s Session) (answered bool, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodDelete, l.base+s.Path, http.NoBody)
	if err != nil {
		return true, err
	}
	r.Header.Set("X-Auth-Token", s.Token)
	answer, err := l.wire.RoundTrip(r)
	if err != nil {
		return false, err
	}
	defer answer.Body.Close()
	if !ended(answer.StatusCode) {
		return true, &endError{answer.Status}
	}
	return true, nil
}

// endError is a BMC's refusal to end a session.
type endError struct{ status string }

func (e *endError) Error() string { return "expected the session to end, the BMC answers " + e.status }

// opened remembers the session of a login that has one.
func (l *login) opened(ctx context.Context) {
	if l.o.Sessions == nil || l.client == nil {
		return
	}
	s, err := l.client.GetSession()
	if err != nil {
		return // basic authentication has none
	}
	l.session = Session{s.ID, s.Token}
	err = l.o.Sessions.Opened(ctx, l.base, l.account.user, l.session)
	l.unrecorded = err != nil
	l.note("remembered", err)
}

// closed forgets the session, which has ended.
func (l *login) closed(ctx context.Context) {
	if l.o.Sessions == nil || l.session == (Session{}) {
		return
	}
	l.note("forgotten", l.o.Sessions.Closed(ctx, l.base, l.account.user, l.session))
	l.session, l.unrecorded = Session{}, false
}

// note logs that a session could not be remembered or forgotten: its user can go on without.
func (l *login) note(what string, err error) {
	if err != nil {
		l.o.Log.Warn("a session was not "+what+" for the next leader", "bmc", l.base, "err", err)
	}
}
