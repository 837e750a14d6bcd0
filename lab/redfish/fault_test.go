package redfish

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/lab/qemu"
	"github.com/ferrite-metal/ferrite/lab/redfish/redfishtest"
	"github.com/google/go-cmp/cmp"
)

func (b *bench) fault(t *testing.T, f Fault) {
	t.Helper()
	if err := b.SetFault(f); err != nil {
		t.Fatal(err)
	}
}

// get reads the system and reports the error of a broken connection.
func (b *bench) get(ctx context.Context, t *testing.T) (*http.Response, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, b.URL+systemPath, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.SetBasicAuth(redfishtest.User, redfishtest.Password)
	response, err := http.DefaultClient.Do(r)
	if err == nil {
		response.Body.Close()
	}
	return response, err
}

func TestFaultAnswers(t *testing.T) {
	tests := []struct {
		fault  Fault
		status int
		header string
		body   string
	}{
		{Fault{Kind: Garbage}, 200, "", `"PowerState": "O`},
		{Fault{Kind: Unauthorized}, 401, "", "ResourceAtUriUnauthorized"},
		{Fault{Kind: Busy, Delay: 1500 * time.Millisecond}, 503, "2", "ServiceTemporarilyUnavailable"},
		{Fault{Kind: Broken}, 500, "", "InternalError"},
	}
	for _, tt := range tests {
		t.Run(string(tt.fault.Kind), func(t *testing.T) {
			b := newBench(t)
			b.fault(t, tt.fault)
			response, body := b.Call(t, "GET", systemPath, "")
			if response.StatusCode != tt.status || response.Header.Get("Retry-After") != tt.header ||
				!strings.Contains(body, tt.body) {
				t.Errorf("%s %v %s", response.Status, response.Header, body)
			}
			if tt.fault.Kind == Garbage && json.Valid([]byte(body)) {
				t.Error("garbage is valid JSON")
			}
			b.ClearFault()
			if response, _ := b.Call(t, "GET", systemPath, ""); response.StatusCode != 200 {
				t.Errorf("after the fault: %s", response.Status)
			}
		})
	}
}

func TestFaultNarrowed(t *testing.T) {
	b := newBench(t)
	b.fault(t, Fault{Kind: Broken, Times: 2, Method: "GET", PathPrefix: systemPath})
	var got []int
	for _, c := range []struct{ method, path string }{{"GET", rootPath}, {"GET", systemPath}, {"POST", resetPath},
		{"GET", systemPath}, {"GET", systemPath}} {
		response, _ := b.Call(t, c.method, c.path, `{"ResetType": "On"}`)
		got = append(got, response.StatusCode)
	}
	if diff := cmp.Diff([]int{200, 500, 204, 500, 200}, got); diff != "" {
		t.Errorf("statuses (-want +got):\n%s", diff)
	}
}

func TestFaultDrop(t *testing.T) {
	b := newBench(t)
	b.fault(t, Fault{Kind: Drop, Times: 1})
	if _, err := b.get(t.Context(), t); !errors.Is(err, io.EOF) {
		t.Errorf("dropped connection: %v", err)
	}
}

func TestFaultHang(t *testing.T) {
	b := newBench(t)
	b.fault(t, Fault{Kind: Hang})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := b.get(ctx, t); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("hanging controller: %v", err)
	}
	hanging := func(n int) {
		t.Helper()
		eventually(t, fmt.Sprintf("%d requests hang", n), func() bool { return b.Counters().Hanging == n })
	}
	hanging(0) // it notices that its client left
	// The end of the fault, and the end of the controller, let go.
	for _, release := range []func(){b.ClearFault, b.end} {
		b.fault(t, Fault{Kind: Hang})
		done := make(chan error, 1)
		go func() {
			_, err := b.get(t.Context(), t)
			done <- err
		}()
		hanging(1)
		release()
		if err := <-done; err == nil {
			t.Error("a hanging request was answered")
		}
	}
}

// eventually waits for an event behind an answer.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within a minute: %s", what)
		}
	}
}

func TestFaultSlowPower(t *testing.T) {
	b := newBench(t)
	b.fault(t, Fault{Kind: SlowPower, Delay: time.Millisecond})
	if response, _ := b.Call(t, "POST", resetPath, `{"ResetType": "On"}`); response.StatusCode != http.StatusNoContent {
		t.Errorf("reset: %s", response.Status)
	}
	eventually(t, "the power changes", func() bool { return b.machine.Power() == qemu.On })
	b.fault(t, Fault{Kind: SlowPower, Delay: time.Hour})
	if response, _ := b.Call(t, "POST", resetPath,
		`{"ResetType": "ForceOff"}`); response.StatusCode != http.StatusNoContent {
		t.Errorf("reset: %s", response.Status)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]qemu.ResetType{"On"}, b.machine.Pressed()); diff != "" { // and no ForceOff at once
		t.Errorf("buttons pressed (-want +got):\n%s", diff)
	}
}

func TestControl(t *testing.T) {
	b := newBench(t)
	control := httptest.NewServer(b.Control())
	defer control.Close()
	send := func(method, path, body string) (int, string) {
		r, err := http.NewRequestWithContext(t.Context(), method, control.URL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return response.StatusCode, string(text)
	}
	for _, bad := range []string{`{`, `{"kind": "explode"}`, `{"kind": "busy"}`, `{"kind": "hang", "for": 1}`} {
		if status, body := send("PUT", "/fault", bad); status != 400 {
			t.Errorf("%s: %d %s", bad, status, body)
		}
	}
	if status, _ := send("PUT", "/fault",
		`{"kind": "busy", "delay_seconds": 0.5, "times": 5}`); status != http.StatusNoContent {
		t.Errorf("set: %d", status)
	}
	if response, _ := b.Call(t, "GET", rootPath, ""); response.StatusCode != 503 {
		t.Errorf("under the fault: %s", response.Status)
	}
	if status, _ := send("DELETE", "/fault", ""); status != http.StatusNoContent {
		t.Errorf("clear: %d", status)
	}
	if response, _ := b.Call(t, "GET", rootPath, ""); response.StatusCode != 200 {
		t.Errorf("after the fault: %s", response.Status)
	}
	_, body := send("GET", "/counters", "")
	var c Counters
	if err := json.Unmarshal([]byte(body), &c); err != nil || c.Requests != 2 || c.MaxInFlight != 1 {
		t.Errorf("%s: %v", body, err)
	}
}

// overtaking is a client that has its answer before the handler returned.
type overtaking struct {
	*httptest.ResponseRecorder
	read func()
}

func (o overtaking) Write(p []byte) (int, error) {
	o.read()
	return o.ResponseRecorder.Write(p)
}

// TestAnsweredIsNotInFlight: the count that convicts a client of two requests at once must not convict a client that
// waits for its answers.
func TestAnsweredIsNotInFlight(t *testing.T) {
	b := newController(t)
	for _, path := range []string{rootPath, systemPath, "/nothing"} {
		read := false
		w := overtaking{httptest.NewRecorder(), func() {
			read = true
			if c := b.Counters(); c.InFlight != 0 {
				t.Errorf("%s: %d in flight while the answer is read", path, c.InFlight)
			}
		}}
		b.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		if !read {
			t.Errorf("%s was not answered", path)
		}
	}
}

func FuzzRequest(f *testing.F) {
	f.Add("PATCH", systemPath, `{"Boot": {"BootSourceOverrideTarget": "Pxe", "BootSourceOverrideEnabled": "Once"}}`)
	f.Add("POST", resetPath, `{"ResetType": "On"}`)
	f.Add("POST", sessionsPath, `{"UserName": "admin", "Password": "x"}`)
	f.Add("POST", mediaPath+ejectAction, ``)
	f.Add("GET", systemPath+"/EthernetInterfaces/99999999999999999999", ``)
	f.Add("GET", "/redfish//v1/../v1", ``)
	f.Add("PATCH", biosSettingsPath, `{"Attributes": {"BootDelaySeconds": 5, "AssetTag": null}}`)
	f.Add("POST", volumesPath, mirrorRequest)
	f.Add("DELETE", volumesPath+"/1", `{"@Redfish.OperationApplyTime": "OnReset"}`)
	f.Add("POST", secureBootPath+resetKeysAction, `{"ResetKeysType": "DeleteAllKeys"}`)
	f.Add("POST", jobServicePath+deleteJobQueueAction, `{"JobID": "JID_CLEARALL"}`)
	f.Fuzz(func(t *testing.T, method, path, body string) {
		if strings.HasSuffix(path, insertAction) || strings.HasSuffix(path, simpleUpdateAction) {
			return // would fetch from wherever the body says
		}
		r := httptest.NewRequest(http.MethodGet, "/", strings.NewReader(body))
		r.Method, r.URL.Path = method, path
		r.SetBasicAuth(redfishtest.User, redfishtest.Password)
		b := newController(t)
		w := httptest.NewRecorder()
		b.ServeHTTP(w, r)
		if w.Code >= 500 {
			t.Errorf("%s %q %q: %d %s", method, path, body, w.Code, w.Body)
		}
	})
}

// The faults of the connection and of single requests answer in the end.
func TestFaultRequests(t *testing.T) {
	b := newBench(t)
	b.fault(t, Fault{Kind: Slow, Delay: 20 * time.Millisecond, Times: 1})
	start := time.Now()
	if b.Send(t, "GET", systemPath, "", 200); time.Since(start) < 20*time.Millisecond {
		t.Error("slow: the answer came at once")
	}
	b.fault(t, Fault{Kind: Truncated, Times: 1})
	if cut, whole := cutAnswers(t, b), cutAnswers(t, b); cut != 1 || whole != 0 {
		t.Errorf("truncated: %d answers cut, then %d, expected 1 and 0", cut, whole)
	}
	b.fault(t, Fault{Kind: Changed, Times: 1})
	b.Send(t, "GET", systemPath, "", 200)
	b.Send(t, "PATCH", systemPath, oncePXE, 412)
	b.Send(t, "PATCH", systemPath, oncePXE, 204)
	if _, err := b.sessions.open("admin"); err != nil {
		t.Fatal(err)
	}
	b.fault(t, Fault{Kind: SessionsLost, Times: 1})
	if b.Send(t, "GET", systemPath, "", 200); b.Counters().Sessions != 0 {
		t.Error("sessions-lost: a session is open")
	}
	if err := b.SetFault(Fault{Kind: Slow}); err == nil {
		t.Error("a slow fault without a delay was accepted")
	}
}

func TestParseFault(t *testing.T) {
	for text, want := range map[string]string{"": "is not known: choose from broken, busy", "slow": "have a delay",
		"slow:x": "expected a delay", "drop:1s": "no other has", "drop*0": "1 or more", "busy:-1s": "expected a delay"} {
		if _, err := ParseFault(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	f, err := ParseFault("busy:2s*3")
	if err != nil || f != (Fault{Kind: "busy", Delay: 2 * time.Second, Times: 3}) {
		t.Errorf("%+v, %v", f, err)
	}
}
