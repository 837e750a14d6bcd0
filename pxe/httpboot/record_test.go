package httpboot_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/pxe"
	"github.com/ferrite-metal/ferrite/pxe/httpboot"
	"github.com/ferrite-metal/ferrite/pxe/loader"
	"github.com/ferrite-metal/ferrite/pxe/pxetest"
)

// recorder keeps events as "request: answer reason".
type recorder struct{ all []string }

func (r *recorder) Record(e pxe.Event) {
	r.all = append(r.all, e.Asked()+": "+e.Answer+" "+string(e.Reason))
}

// TestRecorded: each download makes one event, and no event has the ticket of another handler's path.
func TestRecorded(t *testing.T) {
	seen := &recorder{}
	h := httpboot.New(httpboot.Config{
		URL: "http://10.77.0.1:8088", Loaders: loader.Folder(t.TempDir()), Booter: &pxetest.Booter{}, Foreign: true,
		Recorder: seen, Log: slog.New(slog.DiscardHandler),
		Extra: map[string]http.Handler{"/media/": http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "its boot is over", http.StatusGone)
		})},
	})
	for _, path := range []string{"/loader/none.efi", "/ipxe/start", "/boot/x/kernel", "/media/secret", "/elsewhere"} {
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), method, path, nil))
		}
	}
	later := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/ipxe/start", nil)
	later.Header.Set("Range", "bytes=7-")
	h.ServeHTTP(httptest.NewRecorder(), later)
	want := []string{"GET none.efi:  no-file", "GET /ipxe/start: script for all machines ", "GET kernel:  bad-path",
		"GET /media/:  expired", "GET /elsewhere:  bad-path"}
	if diff := cmp.Diff(want, seen.all); diff != "" {
		t.Error(diff)
	}
}
