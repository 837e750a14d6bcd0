package redfish_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/bmc/redfish"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

func permanent(err error) bool {
	var p interface{ Permanent() bool }
	return errors.As(err, &p) && p.Permanent()
}

// isSystem recognises requests for the system itself.
func isSystem(r *http.Request) bool { return r.URL.Path == "/redfish/v1/Systems/1" }

// Failures of a BMC are distinguished, and it works again when it is well.
func TestFailures(t *testing.T) {
	for _, c := range []struct {
		name string
		hook func(w http.ResponseWriter, r *http.Request)
		want string
	}{
		{"hang", func(_ http.ResponseWriter, r *http.Request) {
			<-r.Context().Done()
		}, "the BMC did not answer GET /redfish/v1/Systems/1 within"},
		{"hang in the body", func(w http.ResponseWriter, r *http.Request) {
			_, _ = w.Write([]byte("{"))
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}, "the BMC did not answer GET /redfish/v1/Systems/1 within"},
		{"garbage", func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(`{"PowerState": "O`))
		}, "the answer is not JSON, but text/plain, 17 bytes"},
		{"a web page", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(503)
			_, _ = w.Write([]byte("<html>\n <p>starting up " + strings.Repeat("x", 1000)))
		}, "the BMC answered 503 Service Unavailable: no error of Redfish, but text/html, 1023 bytes"},
		{"drop", func(http.ResponseWriter, *http.Request) {
			panic(http.ErrAbortHandler)
		}, "the BMC closed the connection in the middle of GET /redfish/v1/Systems/1"},
		{"drop in the body", func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte("{"))
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}, "the BMC closed the connection in the middle of the answer"},
		{"too much", func(w http.ResponseWriter, _ *http.Request) {
			for range 9 {
				_, _ = w.Write(make([]byte, 1<<20))
			}
		}, "the answer is larger than 4194304 bytes"},
		{"a redirect elsewhere", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://example.invalid/", http.StatusFound)
		}, "redirected to another host, which is not followed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBoard(t)
			o := redfish.Options{BackOff: time.Millisecond}
			if strings.HasPrefix(c.name, "hang") {
				o.RequestTimeout = time.Second
			}
			d := newDriver(t, o)
			well := func() bool { _, err := d.PowerState(t.Context(), b.node()); return err == nil }
			eventually(t, "it is well", well)
			b.set(func() {
				b.hook = func(w http.ResponseWriter, r *http.Request, _ int) bool {
					if isSystem(r) {
						c.hook(w, r)
					}
					return isSystem(r)
				}
			})
			_, err := d.PowerState(t.Context(), b.node())
			if err == nil || !strings.Contains(err.Error(), c.want) ||
				!strings.HasPrefix(err.Error(), "redfish "+b.url+": read the power state: ") {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
			if permanent(err) || len(err.Error()) > 600 {
				t.Errorf("%d bytes long, permanent %v: %v", len(err.Error()), permanent(err), err)
			}
			b.set(func() { b.hook = nil })
			eventually(t, "it is well again", well)
		})
	}
}

// For every kind of wrong credentials the BMC is asked once, and the error does not contain
// the password.
func TestWrongPassword(t *testing.T) {
	for _, auth := range []string{"auto", "session", "basic"} {
		t.Run(auth, func(t *testing.T) {
			t.Parallel()
			b := newBoard(t)
			d := newDriver(t, redfish.Options{RefusedFor: time.Hour})
			wrong := b.node("redfish_password", "secret-wrong", "redfish_auth_type", auth)
			asked := 0
			for i := range 5 {
				_, err := d.PowerState(t.Context(), wrong)
				want := `the credentials of user "admin" were refused: correct redfish_username and redfish_password`
				if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), b.url) || !permanent(err) ||
					strings.Contains(err.Error(), "secret") {
					t.Fatalf("got %v, want %s", err, want)
				}
				if i == 0 {
					asked = b.count("")
				}
			}
			if n := b.count("") - asked; n != 0 {
				t.Errorf("asked again, %d times", n)
			}
			if _, err := d.PowerState(t.Context(), b.node("redfish_auth_type", auth)); err != nil {
				t.Errorf("the right password at once: %v", err)
			}
		})
	}
}

// A password that was wrong is tried again after a while: it may be right now.
func TestPasswordBecomesRight(t *testing.T) {
	b := newBoard(t)
	d := newDriver(t, redfish.Options{RefusedFor: time.Millisecond})
	n := b.node("redfish_password", "new")
	if _, err := d.PowerState(t.Context(), n); !permanent(err) {
		t.Fatalf("got %v, want a refusal", err)
	}
	b.set(func() { b.password = "new" })
	eventually(t, "it is tried again", func() bool {
		_, err := d.PowerState(t.Context(), n)
		return err == nil
	})
}

func TestForgottenSession(t *testing.T) {
	b := newBoard(t)
	d := newDriver(t, redfish.Options{})
	for range 3 {
		if _, err := d.PowerState(t.Context(), b.node()); err != nil {
			t.Fatal(err)
		}
		b.set(func() { b.sessions = map[string]string{} })
	}
	if b.made != 3 {
		t.Errorf("%d logins, want 3", b.made)
	}
	// Let in but not listened to: once more, and no more.
	b.set(func() {
		b.hook = func(w http.ResponseWriter, r *http.Request, _ int) bool {
			if isSystem(r) {
				refuse(w, 401, "NoValidSession", "no")
			}
			return isSystem(r)
		}
	})
	before := b.count("POST")
	if _, err := d.PowerState(t.Context(), b.node()); !permanent(err) || b.count("POST") != before+1 ||
		len(b.sessions) != 0 {
		t.Errorf("got %v after %d logins, want a refusal after one", err, b.count("POST")-before)
	}
}

// Where there is no session to be had, auto sends the credentials along.
func TestNoSessions(t *testing.T) {
	for _, c := range []struct {
		name string
		hook func(w http.ResponseWriter, r *http.Request, n int) bool
	}{
		{"all in use", func(w http.ResponseWriter, r *http.Request, _ int) bool {
			if r.Method == "POST" {
				refuse(w, 503, "SessionLimitExceeded", "too many sessions")
			}
			return r.Method == "POST"
		}},
		{"all in use, says 403", func(w http.ResponseWriter, r *http.Request, _ int) bool {
			if r.Method == "POST" {
				refuse(w, 403, "SessionLimitExceeded", "too many sessions")
			}
			return r.Method == "POST"
		}},
		{"no such service", func(w http.ResponseWriter, r *http.Request, _ int) bool {
			if r.Method == "POST" {
				w.WriteHeader(404)
			}
			return r.Method == "POST"
		}},
		{"not in the root", func(w http.ResponseWriter, r *http.Request, _ int) bool {
			if r.URL.Path == "/redfish/v1/" {
				reply(w, 200, map[string]any{"Id": "RootService", "Systems": link("/redfish/v1/Systems")})
			}
			return r.URL.Path == "/redfish/v1/"
		}},
	} {
		b := newBoard(t)
		b.hook = c.hook
		d := newDriver(t, redfish.Options{})
		for range 2 {
			if _, err := d.PowerState(t.Context(), b.node()); err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
		}
		if n := b.count("POST"); n > 1 {
			t.Errorf("%s: %d attempts at a session, want one", c.name, n)
		}
		_, err := newDriver(t, redfish.Options{}).PowerState(t.Context(), b.node("redfish_auth_type", "session"))
		if err == nil || !strings.Contains(err.Error(), "create a session, as redfish_auth_type demands") {
			t.Errorf("%s: session only: got %v", c.name, err)
		}
	}
}

// Another client changes the system between our reading and writing.
func TestChangedInBetween(t *testing.T) {
	for _, c := range []struct {
		others int
		want   string
	}{
		{1, ""}, {2, ""}, {9, "the BMC answered 412 Precondition Failed: The ETag does not match"},
	} {
		b := newBoard(t)
		left := c.others
		b.hook = func(_ http.ResponseWriter, r *http.Request, _ int) bool {
			if r.Method == "PATCH" && left > 0 {
				left--
				b.set(func() { b.etag += 100 })
			}
			return false
		}
		d := newDriver(t, redfish.Options{})
		err := d.SetBootDevice(t.Context(), b.node(), "pxe", false)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%d changes: got %v, want %q", c.others, err, c.want)
		}
		if device, _, err := d.BootDevice(t.Context(), b.node()); c.want == "" && (err != nil || device != "pxe") {
			t.Errorf("%d changes: boot device %q, %v", c.others, device, err)
		}
	}
}

// A BMC in trouble is asked less and less, and callers get the error at once.
func TestBackOff(t *testing.T) {
	b := newBoard(t)
	b.hook = func(w http.ResponseWriter, _ *http.Request, _ int) bool {
		refuse(w, 500, "InternalError", "sick")
		return true
	}
	d := newDriver(t, redfish.Options{BackOff: time.Hour, MaxBackOff: time.Hour})
	_, err := d.PowerState(t.Context(), b.node())
	if err == nil || !strings.Contains(err.Error(), "500 Internal Server Error: sick") {
		t.Fatalf("got %v", err)
	}
	before := b.count("")
	for range 3 {
		_, err = d.PowerState(t.Context(), b.node())
		for _, want := range []string{"not asked for another ", ", after failures in a row: 1; the last: ", "sick"} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %q in it", err, want)
			}
		}
	}
	if n := b.count("") - before; n != 0 {
		t.Errorf("%d calls, want none", n)
	}
}

// Short pauses are waited out.
func TestShortPause(t *testing.T) {
	b := newBoard(t)
	b.hook = func(w http.ResponseWriter, _ *http.Request, n int) bool {
		if n < 4 {
			panic(http.ErrAbortHandler)
		}
		return false
	}
	d := newDriver(t, redfish.Options{BackOff: 20 * time.Millisecond})
	for i := range 4 {
		if _, err := d.PowerState(t.Context(), b.node()); (err == nil) != (i == 3) {
			t.Errorf("call %d: %v", i+1, err)
		}
	}
}

// A caller that gives up is not the BMC's failure: the next one may ask at once.
func TestCallerGivesUp(t *testing.T) {
	b := newBoard(t)
	ctx, cancel := context.WithCancel(t.Context())
	b.hook = func(_ http.ResponseWriter, r *http.Request, _ int) bool { cancel(); <-r.Context().Done(); return true }
	d := newDriver(t, redfish.Options{BackOff: time.Hour, MaxBackOff: time.Hour})
	if _, err := d.PowerState(ctx, b.node()); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	b.set(func() { b.hook = nil })
	if _, err := d.PowerState(t.Context(), b.node()); err != nil {
		t.Errorf("after a caller gave up: %v", err)
	}
}

func TestUnreachable(t *testing.T) {
	d := newDriver(t, redfish.Options{})
	n := node.Node{DriverInfo: map[string]any{"redfish_address": "http://127.0.0.1:1", "redfish_username": "u",
		"redfish_password": "secret"}}
	_, err := d.PowerState(t.Context(), n)
	if err == nil ||
		!strings.Contains(err.Error(), "redfish http://127.0.0.1:1: read the power state: GET /redfish/v1/: ") ||
		!strings.Contains(err.Error(), "connection refused") {
		t.Errorf("got %v", err)
	}
}

func ExampleDriver_Validate() {
	err := redfish.New(redfish.Options{}).Validate(node.Node{})
	fmt.Println(err)
	// Output: driver_info: redfish_address is missing: set it to the BMC's URL, such as https://10.0.0.1
}

// A node with a wrong password costs its neighbour on the same BMC nothing.
func TestWrongPasswordBesideARightOne(t *testing.T) {
	b := newBoard(t)
	d := newDriver(t, redfish.Options{})
	for range 3 {
		if _, err := d.PowerState(t.Context(), b.node()); err != nil {
			t.Fatal(err)
		}
		if _, err := d.PowerState(t.Context(), b.node("redfish_password", "wrong")); !permanent(err) {
			t.Fatalf("got %v, want a refusal", err)
		}
	}
	if n := b.count("POST"); n != 2 {
		t.Errorf("%d logins, want one with each password", n)
	}
}
