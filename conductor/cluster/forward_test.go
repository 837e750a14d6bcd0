package cluster

import (
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/store"
)

// member of a test answers for itself, and forwards.
type member struct {
	*Cluster
	front *Front
	outer *httptest.Server
}

func testKey(t testing.TB, text string) Key {
	t.Helper()
	k, err := NewKey([]byte(strings.Repeat(text, 32)))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// newMember starts a member with a view that the test sets.
func newMember(t testing.TB, name string, k Key) (m *member, inner string) {
	t.Helper()
	r := newRows()
	id, err := NewIdentity(k, name)
	if err != nil {
		t.Fatal(err)
	}
	c, err := Join(t.Context(), Config{Rows: rowsOf{r, name}, Log: quiet(), Self: store.Member{Name: name}})
	if err != nil {
		t.Fatal(err)
	}
	m = &member{Cluster: c, front: NewFront(c, id, r, nil, nil, nil)}
	m.outer = httptest.NewServer(m.front)
	t.Cleanup(m.outer.Close)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := id.Server(t.Context(), m.front.Inner(), quiet())
	go func() { _ = server.Serve(id.Listener(l)) }()
	t.Cleanup(func() { _ = server.Close() })
	return m, l.Addr().String()
}

// sees shows a member the leader.
func (m *member) sees(leader, address string, epoch int64) {
	m.seesLeft(leader, address, epoch, time.Minute)
}

// seesLeft is sees of a leader with so much left of its time.
func (m *member) seesLeft(leader, address string, epoch int64, left time.Duration) {
	m.view.Store(&View{at: time.Now(), Members: []store.Member{{Name: leader, Address: address, Alive: true}},
		leaders: []store.Leader{{Holder: leader, Epoch: epoch, Left: left}}})
	m.mu.Lock()
	defer m.mu.Unlock()
	close(m.changed)
	m.changed = make(chan struct{})
}

// leads has a member answer for the default group.
func (m *member) leads(h http.Handler) *Term {
	t := newTerm(newLease("", 1, time.Now()))
	t.Serve(h, nil)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.terms[""] = &term{Term: t}
	return t
}

func get(t *testing.T, url string, header ...string) (*http.Response, string, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	return answer, string(text), err
}

// TestForward: the leader answers, and sees the client as if it had been asked itself. A client's own headers about
// that are ignored.
func TestForward(t *testing.T) {
	k := testKey(t, "k1")
	leader, inner := newMember(t, "leader", k)
	other, _ := newMember(t, "other", k)
	if answer, text, _ := get(t, other.outer.URL+"/v1"); answer.StatusCode != http.StatusServiceUnavailable ||
		answer.Header.Get("Retry-After") == "" || !strings.Contains(text, "no conductor leads") {
		t.Errorf("without a leader: %d %s", answer.StatusCode, text)
	}
	term := leader.leads(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, _ := net.SplitHostPort(r.RemoteAddr)
		fmt.Fprint(w, r.Host, " ", host, " ", r.TLS == nil, " ", r.URL, " ", r.Header.Get(callerHeader),
			r.Header.Get(leaderHeader))
	}))
	other.sees("leader", inner, 1)
	want := strings.TrimPrefix(other.outer.URL, "http://") + " 127.0.0.1 true /v1/nodes?a=b;c "
	_, text, err := get(t, other.outer.URL+"/v1/nodes?a=b;c", callerHeader, "192.0.2.1:1", leaderHeader, "1 .")
	if err != nil || text != want {
		t.Errorf("forwarded: %q, %v, want %q", text, err, want)
	}
	if answer, _, _ := get(t, other.outer.URL+"/readyz"); answer.StatusCode != http.StatusOK {
		t.Errorf("ready to forward: %d", answer.StatusCode)
	}
	term.Lease.End(errTooLate)
	if answer, text, _ := get(t, other.outer.URL+"/v1"); answer.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("to one that leads no longer: %d %s", answer.StatusCode, text)
	}
}

// TestStrangers: a peer without the cluster's key gets no answer.
func TestStrangers(t *testing.T) {
	_, inner := newMember(t, "leader", testKey(t, "k1"))
	for name, conf := range map[string]*tls.Config{
		"without a certificate": {InsecureSkipVerify: true}, //nolint:gosec // a stranger
		"of another cluster": func() *tls.Config {
			id, err := NewIdentity(testKey(t, "k2"), "stranger")
			if err != nil {
				t.Fatal(err)
			}
			conf := id.client.Clone()
			conf.InsecureSkipVerify = true
			return conf
		}(),
	} {
		client := &http.Client{Transport: &http.Transport{TLSClientConfig: conf}}
		if answer, err := client.Get("https://" + inner + "/v1"); err == nil {
			t.Errorf("%s: %s", name, answer.Status)
			answer.Body.Close()
		}
	}
}

// TestWatchEnds: a watch ends in order when another conductor leads; an answer that is not whole shows it.
func TestWatchEnds(t *testing.T) {
	k := testKey(t, "k1")
	leader, inner := newMember(t, "leader", k)
	other, _ := newMember(t, "other", k)
	over := make(chan struct{})
	t.Cleanup(func() { close(over) })
	leader.leads(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, "first")
		_ = http.NewResponseController(w).Flush()
		<-over // it is frozen
	}))
	for path, whole := range map[string]bool{"/apis/x?watch=true": true, "/v1/nodes": false} {
		other.sees("leader", inner, 1)
		answer, err := http.Get(other.outer.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		other.sees("third", "127.0.0.1:1", 2)
		if text, err := io.ReadAll(answer.Body); string(text) != "first\n" || (err == nil) != whole {
			t.Errorf("%s: %q, %v", path, text, err)
		}
	}
}
