package controller_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/bmc/controller"
)

var errSick = errors.New("sick")

// journal records the acts on logins, in order.
type journal struct {
	mu    sync.Mutex
	lines []string
}

func (j *journal) note(line string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, line)
}

type login struct {
	user string
	log  *journal
}

func (l login) Logout(context.Context) error {
	l.log.note("logout " + l.user)
	return nil
}

// newPool makes a pool with names for accounts. An errSick is a failure of the BMC.
func newPool(log *journal, o controller.Options) *controller.Pool[string, login] {
	o.Driver, o.Log = "fakebmc", slog.New(slog.DiscardHandler)
	o.Failure = func(err error) bool { return errors.Is(err, errSick) }
	return controller.New(o, func(_ string, user string) login {
		log.note("login " + user)
		return login{user, log}
	})
}

// call calls a BMC that answers err.
func call(p *controller.Pool[string, login], address, user string, err error) error {
	return p.Call(context.Background(), address, user, "look", func(context.Context, login) error { return err })
}

// A call waits for the one before it, and no longer than its context.
func TestOneCallAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(&journal{}, controller.Options{})
		go func() {
			_ = p.Call(t.Context(), "a", "u", "sleep", func(context.Context, login) error {
				time.Sleep(10 * time.Second)
				return nil
			})
		}()
		synctest.Wait()
		start := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		err := p.Call(ctx, "a", "u", "look", func(context.Context, login) error { return nil })
		if want := "fakebmc a: look: wait for the call before: context deadline exceeded"; err == nil ||
			err.Error() != want || time.Since(start) != 3*time.Second {
			t.Errorf("got %v after %s, want %s", err, time.Since(start), want)
		}
		if err := call(p, "b", "u", nil); err != nil || time.Since(start) != 3*time.Second {
			t.Errorf("another BMC: %v after %s", err, time.Since(start))
		}
		if err := call(p, "a", "u", nil); err != nil || time.Since(start) != 10*time.Second {
			t.Errorf("the next: %v after %s", err, time.Since(start))
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
}

// Every call ends, and whoever does not end in time cannot be waited for.
func TestCallTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(&journal{}, controller.Options{CallTimeout: time.Hour})
		go func() {
			err := p.Call(t.Context(), "a", "u", "hang", func(ctx context.Context, _ login) error {
				<-ctx.Done()
				return ctx.Err()
			})
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("got %v", err)
			}
		}()
		synctest.Wait()
		if err := p.Close(); err == nil || !strings.Contains(err.Error(), "fakebmc a: a call is still under way") {
			t.Errorf("close: got %v", err)
		}
		time.Sleep(time.Hour)
	})
}

// A BMC in trouble is asked less and less. A caller in the meantime waits a little or gets an error at once. Refusals
// are no trouble.
func TestBackOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(&journal{}, controller.Options{BackOff: time.Second, MaxBackOff: 5 * time.Second})
		start := time.Now()
		var waits []time.Duration
		for range 3 { // pauses of 1 and 2 s are waited out
			if err := call(p, "a", "u", errSick); !errors.Is(err, errSick) {
				t.Fatal(err)
			}
			waits = append(waits, time.Since(start))
		}
		if diff := cmp.Diff([]time.Duration{0, time.Second, 3 * time.Second}, waits); diff != "" {
			t.Errorf("asked at (-want +got):\n%s", diff)
		}
		err := call(p, "a", "u", nil)
		if want := "fakebmc a: look: not asked for another 4s, after failures in a row: 3; the last: sick"; err == nil ||
			err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
		time.Sleep(4 * time.Second)
		if err := call(p, "a", "u", errors.New("no")); err == nil || !strings.Contains(err.Error(), "look: no") {
			t.Errorf("a refusal: got %v", err)
		}
		for range 2 {
			before := time.Now()
			if err := call(p, "a", "u", nil); err != nil || time.Since(before) != 0 {
				t.Errorf("got %v after %s", err, time.Since(before))
			}
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
}

// A caller that gives up says nothing about the BMC.
func TestGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(&journal{}, controller.Options{BackOff: time.Hour, MaxBackOff: time.Hour})
		ctx, cancel := context.WithCancel(t.Context())
		_ = p.Call(ctx, "a", "u", "look", func(context.Context, login) error { cancel(); return errSick })
		if err := call(p, "a", "u", nil); err != nil {
			t.Errorf("the next: %v", err)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
}

// Refused credentials are answered for a while without asking, others are
// not; logins are kept while in use, and given back when not.
func TestLogins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log journal
		p := newPool(&log, controller.Options{RefusedFor: 30 * time.Second, IdleTimeout: time.Minute})
		no := &controller.CredentialsError{Prefix: "fakebmc", User: "bad", Cause: errors.New("wrong")}
		want := `fakebmc a: look: the credentials of user "bad" were refused: correct fakebmc_username and fakebmc_password (wrong)`
		for _, answer := range []error{no, nil, nil} {
			if err := call(p, "a", "bad", answer); err == nil || err.Error() != want {
				t.Errorf("got %v, want %s", err, want)
			}
			if err := call(p, "a", "good", nil); err != nil {
				t.Error(err)
			}
		}
		time.Sleep(31 * time.Second)
		if err := call(p, "a", "bad", nil); err != nil {
			t.Errorf("after a while: %v", err)
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		slices.Sort(log.lines[3:]) // idle logins go in any order
		if err := call(p, "a", "good", nil); err != nil {
			t.Error(err)
		}
		if err := errors.Join(p.Close(), p.Close()); err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff([]string{"login bad", "logout bad", "login good", "logout bad", "logout good", "login good",
			"logout good"}, log.lines); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	})
}
