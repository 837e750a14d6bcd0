package httpboot

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/proto/clientaddr"
	"github.com/ferrite-metal/ferrite/pxe"
)

// TestRefusalsDoNotFloodTheLog: strangers are warned of, not at every request.
func TestRefusalsDoNotFloodTheLog(t *testing.T) {
	var logged bytes.Buffer
	h := New(Config{URL: "http://h", Log: slog.New(slog.NewTextHandler(&logged, nil))})
	for i := range 1000 {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, pxe.ScriptPath(mac(1)), nil)
		r.RemoteAddr = fmt.Sprintf("10.0.%d.%d:1", i%100, i/500)
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, r); w.Code != http.StatusForbidden {
			t.Fatalf("a stranger is answered with %d", w.Code)
		}
	}
	if n := strings.Count(logged.String(), "boot file refused"); n != maxWarned {
		t.Errorf("%d warnings of 200 strangers, want %d", n, maxWarned)
	}

	var w warnings
	now, from := time.Unix(0, 0).Add(time.Hour), clientaddr.Of(&http.Request{RemoteAddr: "10.0.0.1:1"})
	for i, want := range []slog.Level{slog.LevelWarn, slog.LevelDebug, slog.LevelWarn} {
		if got := w.level(from, now.Add(time.Duration(i)*warnGap/2)); got != want {
			t.Errorf("refusal %d is logged at %v, want %v", i, got, want)
		}
	}
}
