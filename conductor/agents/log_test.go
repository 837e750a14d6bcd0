package agents

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// shelf notes the lines that it receives.
type shelf struct{ kept []string }

func (s *shelf) Append(node, boot string, first int64, lines []string) error {
	s.kept = append(s.kept, fmt.Sprintf("%s %s %d %q", node, boot, first, lines))
	return nil
}

// logBody is a batch of lines as agents send it.
func logBody(t *testing.T, token string, lines ...string) string {
	t.Helper()
	b, err := json.Marshal(agentapi.LogLines{AgentToken: token, First: 3, Lines: lines})
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// packed is text in gzip.
func packed(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// postLog sends a body to the log of a node and returns the status.
func postLog(t *testing.T, s *Server, uuid, encoding, body string) int {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, agentapi.AgentsPath+uuid+agentapi.LogSuffix,
		strings.NewReader(body))
	r.Header.Set("Content-Encoding", encoding)
	w := httptest.NewRecorder()
	err := s.Handlers()[agentapi.AgentsPath](w, r)
	var fault *nodeapi.Fault
	var refusal *node.Refusal
	switch {
	case errors.As(err, &fault):
		return fault.Status
	case errors.As(err, &refusal):
		return http.StatusBadRequest
	case err != nil:
		t.Fatal(err)
	}
	return w.Code
}

func TestLog(t *testing.T) {
	good := logBody(t, aToken, "a", "b")
	for _, tc := range []struct {
		name, uuid, encoding, body string
		status                     int
	}{
		{"plain", aNode, "", good, 202},
		{"packed", aNode, "gzip", packed(t, good), 202},
		{"upper case", strings.ToUpper(aNode), "", good, 202},
		{"wrong token", aNode, "", logBody(t, "x", "a"), 400},
		{"no token", aNode, "", `{"lines":["a"]}`, 400},
		{"unknown node", "11111111-2222-4333-8444-000000000000", "", good, 404},
		{"no node", "..", "", good, 404},
		{"no JSON", aNode, "", "lines", 400},
		{"nothing", aNode, "", "", 400},
		{"not packed", aNode, "gzip", good, 400},
		{"cut short", aNode, "gzip", packed(t, good)[:20], 400},
		{"another packing", aNode, "zstd", good, 415},
		{"too large", aNode, "", logBody(t, aToken, strings.Repeat("x", agentapi.MaxLogBody)), 413},
		{"a bomb", aNode, "gzip", packed(t, logBody(t, aToken, strings.Repeat("x", 4*agentapi.MaxLogBody))), 413},
		{"too many lines", aNode, "", logBody(t, aToken, make([]string, agentapi.MaxLogLines+1)...), 400},
	} {
		t.Run(tc.name, func(t *testing.T) {
			logs := &shelf{}
			s := NewServer(Options{Conductor: &scripted{}, Logs: logs})
			if got := postLog(t, s, tc.uuid, tc.encoding, tc.body); got != tc.status {
				t.Errorf("status %d, want %d", got, tc.status)
			}
			var want []string
			if tc.status == 202 {
				want = []string{aNode + " " + node.BootName(aToken) + ` 3 ["a" "b"]`}
			}
			if diff := cmp.Diff(want, logs.kept); diff != "" {
				t.Errorf("kept (-want +got):\n%s", diff)
			}
		})
	}
	if boot := node.BootName(aToken); len(boot) != 16 || boot == node.BootName(aToken+"x") ||
		strings.Contains(aToken, boot) {
		t.Errorf("a boot is called %q", boot)
	}
}

// TestUnpackedAtATime: a packed log waits for those that are unpacked already, since a text of 1 MiB comes in 1 KiB.
func TestUnpackedAtATime(t *testing.T) {
	s := NewServer(Options{Conductor: &scripted{}, Logs: &shelf{}})
	for range maxUnpacking {
		s.unpacking <- struct{}{}
	}
	if got := postLog(t, s, aNode, "", logBody(t, aToken, "a")); got != http.StatusAccepted {
		t.Errorf("a log that is not packed: status %d", got)
	}
	got := make(chan int)
	go func() { got <- postLog(t, s, aNode, "gzip", packed(t, logBody(t, aToken, "a"))) }()
	select {
	case <-got:
		t.Error("more logs are unpacked than may be")
	case <-time.After(20 * time.Millisecond):
	}
	<-s.unpacking
	if got := <-got; got != http.StatusAccepted {
		t.Errorf("a packed log: status %d", got)
	}
}

// TestLogIsAskedFor: agents send it to a conductor that keeps it, and such a
// one only.
func TestLogIsAskedFor(t *testing.T) {
	for _, logs := range []Logs{nil, &shelf{}} {
		s := NewServer(Options{Conductor: &scripted{state: node.CleanWait}, Logs: logs})
		a := ask(t, s, 62, "GET", "/v1/lookup?addresses="+aMAC, "")
		if got := strings.Contains(a.body, `"ferrite_log":true`); got != (logs != nil) {
			t.Errorf("asked for: %v in %s", got, a.body)
		}
		if got := postLog(t, s, aNode, "", logBody(t, aToken, "a")); (got == 202) != (logs != nil) {
			t.Errorf("status %d", got)
		}
	}
}

// TestLogIsBounded: a machine that logs without end is slowed down, and not
// taken for a stranger.
func TestLogIsBounded(t *testing.T) {
	now := time.Unix(0, 0)
	logs := &shelf{}
	body := logBody(t, aToken, strings.Repeat("x", 1000))
	s := NewServer(Options{
		Conductor: &scripted{}, Logs: logs, LogRate: float64(len(body)), LogBurst: float64(3 * len(body)),
		FailureRate: 1, FailureBurst: 2, Now: func() time.Time { return now },
	})
	var got []int
	for range 6 {
		got = append(got, postLog(t, s, aNode, "", body))
	}
	now = now.Add(time.Second)
	for range 2 {
		got = append(got, postLog(t, s, aNode, "", body))
	}
	if diff := cmp.Diff([]int{202, 202, 202, 429, 429, 429, 202, 429}, got); diff != "" || len(logs.kept) != 4 {
		t.Errorf("%d kept; statuses (-want +got):\n%s", len(logs.kept), diff)
	}
}

func FuzzLog(f *testing.F) {
	f.Add(`{"agent_token":"`+aToken+`","first":0,"lines":["a"]}`, false)
	f.Add("\x1f\x8b\x08\x00\x00", true)
	f.Fuzz(func(t *testing.T, body string, gz bool) {
		encoding := ""
		if gz {
			encoding = "gzip"
		}
		s := NewServer(Options{Conductor: &scripted{}, Logs: &shelf{}})
		if got := postLog(t, s, aNode, encoding, body); got >= 500 {
			t.Errorf("status %d", got)
		}
	})
}
