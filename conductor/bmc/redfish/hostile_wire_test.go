package redfish_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/bmc/bmctest"
	"github.com/ferrite-metal/ferrite/conductor/bmc/redfish"
)

// foreignText must not appear in an error.
const foreignText = "SECRET-OF-ANOTHER-SERVICE"

// TestHostileWire: with any peer that does not speak Redfish, the call ends in its time, takes little memory, and
// repeats none of its text.
func TestHostileWire(t *testing.T) {
	const head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
	forever := func(c net.Conn, text string) {
		for {
			if _, err := io.WriteString(c, text); err != nil {
				return // the client has had enough
			}
		}
	}
	say := func(text string) func(net.Conn) {
		return func(c net.Conn) { fmt.Fprint(c, text) }
	}
	for name, does := range map[string]func(c net.Conn){
		"closes":                       func(net.Conn) {},
		"resets":                       func(c net.Conn) { _ = c.(*net.TCPConn).SetLinger(0) },
		"says nothing":                 func(c net.Conn) { _, _ = io.Copy(io.Discard, c) },
		"a banner of SSH":              say("SSH-2.0-" + foreignText + "\r\n"),
		"another protocol without end": func(c net.Conn) { forever(c, foreignText) },
		"HTTP/2": say("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x12\x04\x00\x00\x00\x00\x00" +
			foreignText),
		"a status that is no number":  say("HTTP/1.1 " + foreignText + " OK\r\n\r\n"),
		"header lines without end":    func(c net.Conn) { fmt.Fprint(c, head); forever(c, "X-A: "+foreignText+"\r\n") },
		"one header line without end": func(c net.Conn) { fmt.Fprint(c, head, "X-A: "); forever(c, foreignText) },
		"a header that is none":       say(head + foreignText + "\r\n\r\n"),
		"103 without end": func(c net.Conn) {
			forever(c, "HTTP/1.1 103 Early Hints\r\nLink: <"+foreignText+">\r\n\r\n")
		},
		"101": say("HTTP/1.1 101 Switching Protocols\r\nUpgrade: " + foreignText +
			"\r\nConnection: Upgrade\r\n\r\n"),
		"204":                    say("HTTP/1.1 204 No Content\r\n\r\n"),
		"a body that is short":   say(head + "Content-Length: 1000\r\n\r\n{\"" + foreignText),
		"a length below nothing": say(head + "Content-Length: -5\r\n\r\n" + foreignText),
		"two lengths":            say(head + "Content-Length: 5\r\nContent-Length: 6\r\n\r\n" + foreignText),
		"a length of exabytes": func(c net.Conn) {
			fmt.Fprint(c, head, "Content-Length: 9223372036854775807\r\n\r\n")
			forever(c, " ")
		},
		"chunks without end": func(c net.Conn) {
			fmt.Fprint(c, head, "Transfer-Encoding: chunked\r\n\r\n")
			forever(c, "4\r\n    \r\n")
		},
		"a chunk of exabytes": func(c net.Conn) {
			fmt.Fprint(c, head, "Transfer-Encoding: chunked\r\n\r\n7fffffffffffffff\r\n")
			forever(c, " ")
		},
		"chunk extensions without end": func(c net.Conn) {
			fmt.Fprint(c, head, "Transfer-Encoding: chunked\r\n\r\n1;")
			forever(c, foreignText)
		},
		"a trailer without end": func(c net.Conn) {
			fmt.Fprint(c, head, "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n")
			forever(c, "X-A: "+foreignText+"\r\n")
		},
		"chunks of another size": say(head + "Transfer-Encoding: chunked\r\n\r\n" + foreignText + "\r\n"),
		"gzip that is none":      say(head + "Content-Encoding: gzip\r\nContent-Length: 25\r\n\r\n" + foreignText),
		"a web page": say("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n<html>" +
			foreignText),
		"a web page as an error": say("HTTP/1.1 500 " + foreignText + "\r\nContent-Type: " + foreignText +
			"\r\nConnection: close\r\n\r\n<html>" + foreignText),
		"not let in": say("HTTP/1.1 401 No\r\nWWW-Authenticate: " + foreignText +
			"\r\nContent-Length: 0\r\n\r\n"),
		"a redirect to a file": say("HTTP/1.1 302 Found\r\nLocation: file:///etc/" + foreignText +
			"\r\nContent-Length: 0\r\n\r\n"),
		"a Location that is none": say("HTTP/1.1 200 OK\r\nLocation: http://[" + foreignText +
			"\r\nContent-Length: 2\r\n\r\n{}"),
	} {
		for _, scheme := range []string{"http", "https"} {
			t.Run(name+" by "+scheme, func(t *testing.T) {
				t.Parallel()
				at := bmctest.Listen(t, func(c net.Conn) {
					_, _ = c.Read(make([]byte, 4096))
					does(c)
				})
				b := newBoard(t)
				n := b.node("redfish_address", scheme+"://"+at.String(), "redfish_verify_ca", false)
				began := time.Now()
				_, err := newDriver(t, redfish.Options{RequestTimeout: 300 * time.Millisecond, BackOff: time.Nanosecond,
					MaxBackOff: time.Nanosecond}).Vitals(t.Context(), n)
				if err == nil || strings.Contains(err.Error(), foreignText[:8]) || len(err.Error()) > 500 {
					t.Errorf("got %v, want a short error that repeats nothing", err)
				}
				if took := time.Since(began); took > 5*time.Second {
					t.Errorf("it took %v", took)
				}
			})
		}
	}
	t.Cleanup(func() { // once all have ended
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		if m.HeapSys>>20 > 1000 {
			t.Errorf("%d MB were taken", m.HeapSys>>20)
		}
	})
}

// TestHostileLogin: a BMC that takes a login and then does not know it, gives a
// gigantic token, or names a session on another host, costs a bounded number of
// requests, and no other host sees any.
func TestHostileLogin(t *testing.T) {
	var elsewhere atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
	t.Cleanup(other.Close)
	const sessions = "/redfish/v1/SessionService/Sessions"
	for name, header := range map[string]http.Header{
		"another host": {"X-Auth-Token": {"t"}, "Location": {other.URL + "/session"}},
		"a host without //": {
			"X-Auth-Token": {"t"}, "Location": {"//" + strings.TrimPrefix(other.URL, "http://") + "/session"},
		},
		"at another host": {
			"X-Auth-Token": {"t"}, "Location": {"@" + strings.TrimPrefix(other.URL, "http://") + "/session"},
		},
		"a file":                   {"X-Auth-Token": {"t"}, "Location": {"file:///etc/passwd"}},
		"a large token":            {"X-Auth-Token": {strings.Repeat("t", 200<<10)}, "Location": {sessions + "/1"}},
		"a larger token":           {"X-Auth-Token": {strings.Repeat("t", 10<<20)}, "Location": {sessions + "/1"}},
		"no token":                 {"Location": {sessions + "/1"}},
		"a token that ends a line": {"X-Auth-Token": {"t\x00t"}, "Location": {sessions + "/1"}},
		"no session":               {"X-Auth-Token": {"t"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBoard(t)
			b.hook = func(w http.ResponseWriter, r *http.Request, _ int) bool {
				if r.Method != http.MethodPost || r.URL.Path != sessions {
					return false
				}
				for k, v := range header {
					w.Header()[k] = v
				}
				w.WriteHeader(http.StatusCreated)
				fmt.Fprint(w, `{"Id": "1"}`)
				return true
			}
			d := newDriver(t, redfish.Options{BackOff: time.Nanosecond, MaxBackOff: time.Nanosecond})
			for range 3 {
				if _, err := d.Vitals(t.Context(), b.node("redfish_auth_type", "session")); err == nil ||
					errors.Is(err, syscall.ECONNREFUSED) || len(err.Error()) > 1000 {
					t.Errorf("got %.200v, want a short error", err)
				}
			}
			if n := b.count(""); n > 30 {
				t.Errorf("%d requests were made", n)
			}
		})
	}
	if n := elsewhere.Load(); n != 0 {
		t.Errorf("%d requests went to another host", n)
	}
}
