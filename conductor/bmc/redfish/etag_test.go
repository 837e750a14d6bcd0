package redfish_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/bmc/redfish"
)

// tagged is a board that gives the ETag header, and body where it is set. It takes a change with a tag that takes
// accepts, and counts the changes it refused.
func tagged(t *testing.T, header, body string, takes func(tag string) int) (b *board, refused *int) {
	b, refused = newBoard(t), new(int)
	b.hook = func(w http.ResponseWriter, r *http.Request, n int) bool {
		if !isSystem(r) {
			return false
		}
		if r.Method == http.MethodGet {
			if header != "" {
				w.Header().Set("ETag", strings.ReplaceAll(header, "N", fmt.Sprint(n)))
			}
			reply(w, 200, map[string]any{"@odata.id": r.URL.Path, "@odata.etag": body, "Id": "1", "PowerState": "Off",
				"Boot": map[string]any{}})
			return true
		}
		status := takes(r.Header.Get("If-Match"))
		if status != http.StatusNoContent {
			*refused++
			refuse(w, status, "PreconditionFailed", "no")
			return true
		}
		w.WriteHeader(status)
		return true
	}
	return b, refused
}

// The ETag is sent as given, and in fewer and fewer forms where the BMC does not take its own.
// Once the form is known, a second change is taken at once.
func TestETags(t *testing.T) {
	only := func(tag string) func(string) int {
		return func(sent string) int {
			switch sent {
			case tag:
				return http.StatusNoContent
			case "":
				return http.StatusPreconditionRequired
			}
			return http.StatusPreconditionFailed
		}
	}
	for _, c := range []struct {
		name, header, body string
		takes              func(tag string) int
		first, second      int // refusals
	}{
		{"as given", `"1"`, "", only(`"1"`), 0, 0},
		{"weak", `W/"1"`, "", only(`W/"1"`), 0, 0},
		{"weak given, strong taken", `W/"1"`, "", only(`"1"`), 1, 0},
		{"without quotes given, with them taken", `1`, "", only(`"1"`), 1, 0},
		{"with quotes given, without them taken", `"1"`, "", only(`1`), 1, 0},
		{"only the header's", `"h"`, `"b"`, only(`"h"`), 3, 3},
		{"none taken", `W/"1"`, "", func(tag string) int {
			if tag != "" {
				return http.StatusPreconditionFailed
			}
			return http.StatusNoContent
		}, 3, 0},
		{"another with each reading", `"N"`, "", func(tag string) int {
			if tag != "" {
				return http.StatusPreconditionFailed
			}
			return http.StatusNoContent
		}, 1, 0},
		{"none given, any wanted", "", "", only("*"), 1, 1},
		{"of gzip", `"1-gzip"`, "", only(`"1"`), 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, refused := tagged(t, c.header, c.body, c.takes)
			d := newDriver(t, redfish.Options{})
			for i, most := range []int{c.first, c.second} {
				*refused = 0
				if err := d.SetBootDevice(t.Context(), b.node(), "pxe", false); err != nil || *refused > most {
					t.Errorf("change %d: %v after %d refusals, at most %d are wanted", i, err, *refused, most)
				}
			}
		})
	}
}

// A 412 that no form of the ETag ends is the BMC's answer, after few tries.
func TestETagsRefused(t *testing.T) {
	b, refused := tagged(t, `W/"1"`, `"2"`, func(string) int { return http.StatusPreconditionFailed })
	err := newDriver(t, redfish.Options{}).SetBootDevice(t.Context(), b.node(), "pxe", false)
	if err == nil || !strings.Contains(err.Error(), "412") || *refused > 20 {
		t.Errorf("got %v after %d refusals", err, *refused)
	}
}

// Requests ask for no compression; answers that are compressed all the same are read, and a
// BMC that insists on it is asked so.
func TestCompression(t *testing.T) {
	var mu = make(chan struct{}, 1)
	var encodings []string
	b := newBoard(t)
	b.hook = func(w http.ResponseWriter, r *http.Request, _ int) bool {
		mu <- struct{}{}
		defer func() { <-mu }()
		encodings = append(encodings, strings.Join(r.Header["Accept-Encoding"], ","))
		if !isSystem(r) {
			return false
		}
		if r.Header.Get("Accept-Encoding") == "identity" {
			refuse(w, http.StatusNotAcceptable, "GeneralError", "only compressed")
			return true
		}
		packed(w, `{"@odata.id": "/redfish/v1/Systems/1", "Id": "1", "PowerState": "On"}`)
		return true
	}
	power, err := newDriver(t, redfish.Options{}).PowerState(t.Context(), b.node())
	if err != nil || power != "power on" {
		t.Errorf("got %q, %v", power, err)
	}
	slices.Sort(encodings)
	if all := slices.Compact(encodings); !slices.Equal(all, []string{"gzip", "identity"}) {
		t.Errorf("asked for %v", all)
	}
}

// Where no connection comes about, that is known before a request would have run out.
func TestConnectTimeout(t *testing.T) {
	d := newDriver(t, redfish.Options{ConnectTimeout: 50 * time.Millisecond, Dialer: neverConnects()})
	_, err := d.PowerState(t.Context(), newBoard(t).node())
	if err == nil || !strings.Contains(err.Error(), "no connection within 50ms") ||
		!strings.Contains(err.Error(), "bmc_connect_timeout") {
		t.Errorf("got %v", err)
	}
}
