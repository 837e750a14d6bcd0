package ipmi

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/bougou/go-ipmi/pkg/client"
	"github.com/bougou/go-ipmi/pkg/command/app"
	"github.com/bougou/go-ipmi/pkg/rmcpplus"
	"github.com/bougou/go-ipmi/pkg/types"

	"github.com/ferrite-metal/ferrite/conductor/bmc/controller"
	"github.com/ferrite-metal/ferrite/conductor/bmc/driverinfo"
)

// The messages that set up a session (IPMI v2.0, 13.15), as commands.
var (
	openSession = types.Command{Name: "RMCP+ Open Session"}
	rakp1       = types.Command{Name: "RAKP Message 1"}
	rakp3       = types.Command{Name: "RAKP Message 3"}
)

// levelRefused are the answers to Set Session Privilege Level that concern the user (IPMI v2.0, 22.18).
var levelRefused = []types.CompletionCode{
	types.CodeSetSessionPrivilegeLevelLevelNotAvailable, types.CodeSetSessionPrivilegeLevelExceedsLimit,
	types.CodeInsufficientPrivilege,
}

// never is a timeout that go-ipmi must not reach by itself: every command has a deadline in its context.
const never = time.Hour

// open makes a session with one cipher suite. go-ipmi's own Connect is not
// used: it hides which message was refused and how, and leaves a goroutine
// that talks to the BMC while commands are under way.
func (l *login) open(ctx context.Context, c cipher, timeout time.Duration) (*session, error) {
	conn, err := l.o.Dialer.DialContext(ctx, "udp", l.address)
	if err != nil {
		return nil, &wireError{command: "opening a socket", cause: err}
	}
	w := &wire{Conn: conn, account: l.account, cipher: c}
	ours, err := client.NewClient(l.address, 0, l.account.user, l.account.password) // wire is connected already
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	ours.WithUDPProxy(w).WithRetry(0).WithTimeout(never).WithCipherSuiteID(c.id).WithMaxPrivilegeLevel(
		levels[l.account.level])
	s := &session{client: ours, wire: w, log: l.o.Log.With("bmc", l.address), address: l.address,
		timeout: timeout, tries: 1}
	if err := l.handshake(ctx, s); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	if err := l.raise(ctx, s); err != nil {
		return nil, err
	}
	return s, nil
}

// raise takes the privileges that commands need; a session without them goes
// back.
func (l *login) raise(ctx context.Context, s *session) error {
	_, err := ask(ctx, s, types.CommandSetSessionPrivilegeLevel,
		func(ctx context.Context) (*app.SetSessionPrivilegeLevelResponse, error) {
			return s.client.SetSessionPrivilegeLevel(ctx, levels[l.account.level])
		})
	if err == nil {
		return nil
	}
	if err := s.close(ctx); err != nil {
		s.log.Warn("session not given back, it will run out by itself", "err", err)
	}
	if slices.Contains(levelRefused, code(err)) {
		return l.account.refusedLevel(err)
	}
	return err
}

// handshake proves to each side that the other has the password.
func (l *login) handshake(ctx context.Context, s *session) error {
	opened, err := ask(ctx, s, openSession, s.client.OpenSession)
	if err != nil {
		return l.account.refused(openSession, err)
	}
	if got, want := algorithms(opened), s.wire.cipher; got != want.algorithms() {
		return &cipherError{fmt.Errorf("it chose algorithms %v instead", got)}
	}
	if _, err := ask(ctx, s, rakp1, s.client.RAKPMessage1); err != nil {
		if errors.Is(err, client.ErrRAKPAuthentication) {
			return &controller.CredentialsError{
				Prefix: "ipmi", User: l.account.user, Cause: errors.New("the BMC has another password for it"),
			}
		}
		return l.account.refused(rakp1, err)
	}
	if _, err := ask(ctx, s, rakp3, s.client.RAKPMessage3); err != nil {
		if errors.Is(err, client.ErrRAKPAuthentication) {
			return driverinfo.Wrong("ipmi_hex_kg_key",
				"seems to be needed: the password is right, and the session's keys are not; BMC keys (Kg) are not supported, "+
					"clear the key of the BMC's LAN channel")
		}
		return l.account.refused(rakp3, err)
	}
	return nil
}

func algorithms(r *rmcpplus.OpenSessionResponse) [3]uint8 {
	return [3]uint8{r.AuthAlg, r.IntegrityAlg, r.CryptAlg}
}

// cipherError is a BMC that does not take a cipher suite.
type cipherError struct{ cause error }

func (e *cipherError) Error() string { return e.cause.Error() }

func (e *cipherError) Unwrap() error { return e.cause }

// refused explains why a BMC refused a session, and names the setting to check.
func (a account) refused(message types.Command, err error) error {
	said := status(err)
	switch {
	case slices.Contains(badCipher, said):
		return &cipherError{err}
	case slices.Contains(badLevel, said):
		return a.refusedLevel(err)
	case slices.Contains(badUser, said):
		return &controller.CredentialsError{Prefix: "ipmi", User: a.user, Cause: err}
	case said != types.RmcpStatusCodeNoErrors:
		return fmt.Errorf("the BMC refused a session after %s: %w", message.Name, err)
	}
	return err
}
