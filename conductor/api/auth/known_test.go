package auth

import (
	"bufio"
	"net"
	"net/http"
	"testing"

	"github.com/ferrite-metal/ferrite/proto/connlimit"
)

// TestKnownKeepsItsConnection: when a third connection needs a place, an idle connection that has shown a password
// stays. The other idle connection goes, although it has been idle for less time.
func TestKnownKeepsItsConnection(t *testing.T) {
	h, _ := newHouse(t)
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	idle := make(chan struct{}, 10) // a token for each answer that is out
	srv := &http.Server{ConnState: func(_ net.Conn, s http.ConnState) {
		if s == http.StateIdle {
			idle <- struct{}{}
		}
	}, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := h.Authenticate(w, r); err != nil {
			w.WriteHeader(http.StatusUnauthorized)
		}
	})}
	connlimit.Track(srv)
	served := make(chan error, 1)
	go func() { served <- srv.Serve(connlimit.Limit(l, 2, 2)) }()
	defer func() { srv.Close(); <-served }()

	call := func(c net.Conn, user, password string) (int, error) {
		r, _ := http.NewRequestWithContext(t.Context(), "GET", "http://h/", nil)
		r.SetBasicAuth(user, password)
		if err := r.Write(c); err != nil {
			return 0, err
		}
		answer, err := http.ReadResponse(bufio.NewReader(c), r)
		if err != nil {
			return 0, err
		}
		return answer.StatusCode, answer.Body.Close()
	}
	var conns []net.Conn
	for i, from := range []string{"127.0.0.11", "127.0.0.12", "127.0.0.13"} {
		d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
		c, err := d.DialContext(t.Context(), "tcp4", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		conns = append(conns, c)
		password := "wonder"
		if i == 1 {
			password = "wrong"
		}
		if status, err := call(c, "alice", password); err != nil || (status == http.StatusOK) != (i != 1) {
			t.Fatalf("connection %d: %d, %v", i, status, err)
		}
		<-idle
	}
	if _, err := call(conns[1], "alice", "wrong"); err == nil {
		t.Error("the stranger's connection stays")
	}
	if status, err := call(conns[0], "alice", "wonder"); err != nil || status != http.StatusOK {
		t.Errorf("alice's connection: %d, %v", status, err)
	}
}
