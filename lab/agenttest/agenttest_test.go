package agenttest_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/lab/agenttest"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

const token = "a token of one boot, long enough"

// calls is a conductor that gives a token out, and notes heartbeats.
type calls chan string

func (c calls) call(method, path string, body, answer any) (int, error) {
	if method == http.MethodGet {
		reply := fmt.Sprintf(`{"node": {"uuid": "1be26c0b-03f2-4d2e-ae87-c02d7f33c123"},
			"config": {"agent_token": %q}}`, token)
		return http.StatusOK, json.Unmarshal([]byte(reply), answer)
	}
	said, _ := body.(map[string]string)
	c <- path + " " + said["agent_token"]
	return http.StatusAccepted, nil
}

// TestMachine: an agent calls when it has booted and when a step is done. It takes one command at a time, and keeps all
// of them in the ledger. An agent without power answers nothing.
func TestMachine(t *testing.T) {
	heard := make(calls, 10)
	m := agenttest.New(agenttest.Config{Call: heard.call, MAC: "52:54:00:00:00:01", URL: "http://127.0.0.1:9999",
		Boot: time.Millisecond, Step: 50 * time.Millisecond, Beat: time.Hour})
	server := httptest.NewServer(m)
	defer server.Close()
	send := func(body string) (status int, answer string) {
		t.Helper()
		a, err := http.Post(server.URL+"/v1/commands/?agent_token="+strings.ReplaceAll(token, " ", "%20"), "application/json",
			strings.NewReader(body))
		if err != nil {
			return 0, err.Error()
		}
		defer a.Body.Close()
		text, err := io.ReadAll(a.Body)
		if err != nil {
			t.Fatal(err)
		}
		return a.StatusCode, string(text)
	}
	m.Power(true)
	if got := <-heard; got != agentapi.HeartbeatPath+"1be26c0b-03f2-4d2e-ae87-c02d7f33c123 "+token {
		t.Errorf("the heartbeat is %q", got)
	}
	const step = `{"name": "clean.execute_clean_step", "params": {"step": {"step": "erase_devices_metadata"}}}`
	for _, c := range []struct {
		body   string
		status int
		want   string
	}{
		{`{"name": "clean.get_clean_steps", "params": {}}`, http.StatusOK, "erase_devices_metadata"},
		{step, http.StatusOK, "RUNNING"},
		{step, http.StatusConflict, "busy"},
		{`{`, http.StatusBadRequest, "expected a command"},
	} {
		if status, answer := send(c.body); status != c.status || !strings.Contains(answer, c.want) {
			t.Errorf("%s: %d %s", c.body, status, answer)
		}
	}
	<-heard // the step is done
	if status, answer := send(step); status != http.StatusOK {
		t.Errorf("another one: %d %s", status, answer)
	}
	m.Power(false)
	if status, _ := send(step); status != 0 {
		t.Errorf("a machine that is off answers %d", status)
	}
	var ledger []string
	for _, c := range m.Ledger() {
		ledger = append(ledger, fmt.Sprintln(c.Boot, c.Name, c.Step, c.Refused))
	}
	want := "1 clean.get_clean_steps  false\n1 clean.execute_clean_step erase_devices_metadata false\n" +
		"1 clean.execute_clean_step erase_devices_metadata true\n1 clean.execute_clean_step erase_devices_metadata false\n"
	if got := strings.Join(ledger, ""); got != want {
		t.Errorf("the ledger is\n%swant\n%s", got, want)
	}
}
