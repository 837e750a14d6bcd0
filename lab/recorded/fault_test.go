package recorded_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/lab/recorded"
	"github.com/ferrite-metal/ferrite/lab/redfish"
)

// TestFaults: each fault hits as often as it says, and then the BMC answers as ever.
func TestFaults(t *testing.T) {
	for text, want := range map[string]string{
		"garbage*1": `"PowerState": "O`, "unauthorized*1": "401", "busy:2s*1": "503", "broken*1": "500",
		"drop*1":      "EOF",
		"truncated*1": "unexpected EOF", "slow:1ms*1": "200", "sessions-lost*1": "200", "changed*1": "200",
		"hang*1": "deadline",
	} {
		f, err := redfish.ParseFault(text)
		if err != nil {
			t.Fatal(err)
		}
		web := httptest.NewServer(withFault(t, f))
		if got := fetch(t, web.URL+system, f.Kind == "hang"); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
		if got := fetch(t, web.URL+system, false); !strings.HasPrefix(got, "200") || !strings.HasSuffix(got, "}") {
			t.Errorf("after %s: %s", text, got)
		}
		web.Close()
	}
}

func withFault(t *testing.T, f redfish.Fault) http.Handler {
	t.Helper()
	faulty, err := recorded.WithFault(newBMC(t), f)
	if err != nil {
		t.Fatal(err)
	}
	return faulty
}

// fetch returns the status and the body of an answer, or the error. With never it does not wait for an answer.
func fetch(t *testing.T, url string, never bool) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	if never {
		ctx, cancel = context.WithTimeout(t.Context(), 50*time.Millisecond)
	}
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.SetBasicAuth("admin", "right")
	r.Close = true // net/http sends a request again on a connection that was used before
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err.Error()
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return err.Error()
	}
	return answer.Status + " " + string(body)
}

// TestChangedFault: a change meets another ETag.
func TestChangedFault(t *testing.T) {
	w := httptest.NewRecorder()
	f, err := redfish.ParseFault("changed")
	if err != nil {
		t.Fatal(err)
	}
	withFault(t, f).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "PATCH", system,
		strings.NewReader("{}")))
	if w.Code != http.StatusPreconditionFailed {
		t.Errorf("%d", w.Code)
	}
}
