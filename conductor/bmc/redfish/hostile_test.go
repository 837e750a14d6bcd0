package redfish_test

import (
	"compress/gzip"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/bmc/redfish"
)

// mediaPath is the collection that hostile boards answer in their own way.
const mediaPath = "/redfish/v1/Media"

// hostile is a board with a collection of virtual drives that hook answers.
func hostile(t *testing.T, hook http.HandlerFunc) *board {
	b := newBoard(t)
	b.extra = map[string]any{"VirtualMedia": link(mediaPath)}
	b.hook = func(w http.ResponseWriter, r *http.Request, _ int) bool {
		own := strings.HasPrefix(r.URL.Path, mediaPath)
		if own {
			hook(w, r)
		}
		return own
	}
	return b
}

// page is a part of a collection.
func page(w http.ResponseWriter, members int, next string) {
	list := strings.TrimSuffix(strings.Repeat(`{"@odata.id": "/redfish/v1/Media/1"},`, members), ",")
	fmt.Fprintf(w, `{"Members": [%s], "Members@odata.nextLink": %q}`, list, next)
}

// A BMC in bad hands costs the conductor neither its memory nor a password, and
// the error says which bound it went over.
func TestHostile(t *testing.T) {
	elsewhere := 0
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere++ }))
	t.Cleanup(other.Close)
	pad := strings.Repeat(" ", 3<<20)
	next := 0
	following := func() string { next++; return fmt.Sprint(mediaPath, "?page=", next) }
	for _, c := range []struct {
		name string
		hook http.HandlerFunc
		want string
	}{
		{"pages without end", func(w http.ResponseWriter, _ *http.Request) { page(w, 1, following()) },
			"more than 100 pages"},
		{"a page that follows itself", func(w http.ResponseWriter, _ *http.Request) { page(w, 1, mediaPath) },
			"follows itself"},
		{"two pages in a circle", func(w http.ResponseWriter, r *http.Request) {
			page(w, 1, map[string]string{"": mediaPath + "?b", "b": mediaPath}[r.URL.RawQuery])
		}, "follows itself"},
		{"members without end", func(w http.ResponseWriter, _ *http.Request) { page(w, 3000, following()) },
			"more than 10000 members"},
		{"large pages", func(w http.ResponseWriter, _ *http.Request) {
			page(w, 0, following())
			fmt.Fprint(w, pad)
		}, "the answers to one call are larger than 67108864 bytes"},
		{"a large page", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, pad, pad) },
			"the answer is larger than 4194304 bytes"},
		{"a page that is larger unpacked", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			for range 16 {
				fmt.Fprint(z, pad)
			}
			_ = z.Close() // the client has gone before
		}, "the answer is larger than 4194304 bytes"},
		{"deep JSON", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, strings.Repeat("[", 1<<20)) },
			"nested deeper than 64 levels"},
		{"many values", func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintf(w, `{"Members": [{}%s]}`, strings.Repeat(",{}", 1<<20))
		}, "more than 100000 values"},
		{"an error of many values", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprintf(w, `{"error": {"@Message.ExtendedInfo": [{}%s]}}`, strings.Repeat(",{}", 1<<20))
		}, "more than 100000 values"},
		{"a header without end", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-A", strings.Repeat("a", 1<<20))
		}, "response headers exceeded 262144 bytes"},
		{"another host as a page", func(w http.ResponseWriter, _ *http.Request) { page(w, 1, other.URL) },
			"on another host, by \"" + other.URL + "\", which is not followed"},
		{"another host by @", func(w http.ResponseWriter, _ *http.Request) {
			page(w, 1, "@"+strings.TrimPrefix(other.URL, "http://")+"/")
		}, "which is no path"},
		{"a redirect elsewhere", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, other.URL+"/", http.StatusTemporaryRedirect)
		}, "which is not followed"},
		{"a redirect to itself", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, mediaPath, http.StatusTemporaryRedirect)
		}, "which is not followed"},
		{"a long path", func(w http.ResponseWriter, _ *http.Request) { page(w, 1, "/"+strings.Repeat("a", 1<<20)) },
			"a path of 1048577 bytes"},
		{"one byte after the other", func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				fmt.Fprint(w, " ")
				_ = http.NewResponseController(w).Flush()
				time.Sleep(time.Millisecond)
			}
		}, "did not answer GET " + mediaPath + " within"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := hostile(t, c.hook)
			o := redfish.Options{BackOff: time.Nanosecond, MaxBackOff: time.Nanosecond}
			if strings.HasPrefix(c.want, "did not") {
				o.RequestTimeout = 100 * time.Millisecond
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := newDriver(t, o).MediaSlots(t.Context(), b.node())
			runtime.ReadMemStats(&after)
			if err == nil || !strings.Contains(err.Error(), c.want) || len(err.Error()) > 1000 {
				t.Errorf("got  %.1000v\nwant %s", err, c.want)
			}
			if spent := (after.TotalAlloc - before.TotalAlloc) >> 20; spent > 500 {
				t.Errorf("%d MB were taken", spent)
			}
		})
	}
	if elsewhere != 0 {
		t.Errorf("%d requests went to another host", elsewhere)
	}
}

// A login, too, sends the password nowhere else.
func TestLoginElsewhere(t *testing.T) {
	elsewhere := 0
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere++ }))
	t.Cleanup(other.Close)
	for _, sessions := range []string{"@" + strings.TrimPrefix(other.URL, "http://") + "/",
		".example.invalid/", other.URL} {
		b := newBoard(t)
		b.hook = func(w http.ResponseWriter, r *http.Request, _ int) bool {
			root := r.URL.Path == "/redfish/v1/"
			if root {
				reply(w, 200, map[string]any{"Id": "RootService", "Systems": link("/redfish/v1/Systems"),
					"Links": map[string]any{"Sessions": link(sessions)}})
			}
			return root
		}
		if _, err := newDriver(t, redfish.Options{}).PowerState(t.Context(),
			b.node("redfish_auth_type", "session")); err == nil || elsewhere != 0 {
			t.Errorf("sessions at %s: %v, %d requests elsewhere", sessions, err, elsewhere)
		}
	}
}

// packed answers with compressed JSON.
func packed(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Encoding", "gzip")
	w.Header().Set("Content-Type", "application/json")
	z := gzip.NewWriter(w)
	fmt.Fprint(z, text)
	_ = z.Close() // a client that has gone is some tests' point
}

// Long answers of all BMCs share one room, and each call returns its part, however it ends.
func TestRoomOfAllBMCs(t *testing.T) {
	pad := strings.Repeat(" ", 3<<20)
	d := newDriver(t, redfish.Options{RequestTimeout: 200 * time.Millisecond})
	long := hostile(t, func(w http.ResponseWriter, _ *http.Request) { page(w, 1, ""); fmt.Fprint(w, pad) })
	for name, answer := range map[string]http.HandlerFunc{
		"no JSON":  func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, pad, "x") },
		"an error": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadRequest); fmt.Fprint(w, pad) },
		"busy": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusServiceUnavailable)
			fmt.Fprint(w, pad)
		},
		"cut short": func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, pad)
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		},
	} {
		b := hostile(t, answer)
		if _, err := d.MediaSlots(t.Context(), b.node()); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
	done := redfish.TakeRoom(t)
	if _, err := d.PowerState(t.Context(), long.node()); err != nil {
		t.Errorf("short answers wait for long ones: %v", err)
	}
	if _, err := d.MediaSlots(t.Context(), long.node()); err == nil || !strings.Contains(err.Error(), "leave no room") {
		t.Errorf("a long answer without room: %v", err)
	}
	done()
	if _, err := d.MediaSlots(t.Context(), long.node()); err != nil && strings.Contains(err.Error(), "room") {
		t.Error(err)
	}
	redfish.TakeRoom(t)()
}
