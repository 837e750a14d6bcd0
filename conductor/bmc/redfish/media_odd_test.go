package redfish_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/bmc/redfish"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

// drive is a board with one virtual CD, which answers each request to insert or to eject as
// a function says: a status of 400 and more, and a message, or 0.
type drive struct {
	*board

	inserted        bool
	shownFor        int // looks for which it shows an image after it was ejected
	sent            []map[string]any
	inserts, ejects func(body map[string]any, n int) (status int, id, message string)
}

func newDrive(t *testing.T) *drive {
	d := &drive{board: newBoard(t)}
	taken := func(map[string]any, int) (int, string, string) { return 0, "", "" }
	d.inserts, d.ejects = taken, taken
	const path = "/redfish/v1/Media/1"
	d.extra = map[string]any{"VirtualMedia": link("/redfish/v1/Media"),
		"/redfish/v1/Media": map[string]any{"Members": []any{link(path)}}}
	count := map[string]int{}
	d.hook = func(w http.ResponseWriter, r *http.Request, _ int) bool {
		if !strings.HasPrefix(r.URL.Path, path) {
			return false
		}
		if r.Method == http.MethodGet {
			if d.shownFor--; d.shownFor == 0 {
				d.inserted = false
			}
			reply(w, 200, map[string]any{"@odata.id": path, "MediaTypes": []string{"CD"}, "Inserted": d.inserted,
				"Actions": map[string]any{
					"#VirtualMedia.InsertMedia": map[string]any{"target": path + "/insert"},
					"#VirtualMedia.EjectMedia":  map[string]any{"target": path + "/eject"}}})
			return true
		}
		var body map[string]any
		_ = json.NewDecoder(r.Body).Decode(&body)
		answer := d.inserts
		if strings.HasSuffix(r.URL.Path, "/eject") {
			answer = d.ejects
		} else {
			d.sent = append(d.sent, body)
		}
		count[r.URL.Path]++
		if status, id, message := answer(body, count[r.URL.Path]); status >= 400 {
			refuse(w, status, id, message)
			return true
		}
		d.inserted = strings.HasSuffix(r.URL.Path, "/insert") || d.shownFor > 0
		w.WriteHeader(http.StatusNoContent)
		return true
	}
	return d
}

// BMCs want an image asked for in their own words and time.
func TestMediaOddities(t *testing.T) {
	for _, c := range []struct {
		name string
		make func(d *drive)
		want string // of the error
	}{
		{"a DGX wants credentials", func(d *drive) {
			d.inserts = func(body map[string]any, _ int) (int, string, string) {
				if body["UserName"] != "none" || body["Password"] != "none" {
					return 400, "ActionParameterMissing", "The action InsertMedia requires the parameter UserName."
				}
				return 0, "", ""
			}
		}, ""},
		{"a DGX that is picky besides", func(d *drive) {
			d.inserts = func(body map[string]any, _ int) (int, string, string) {
				switch {
				case body["Inserted"] != nil:
					return 400, "ActionParameterUnknown", "Inserted"
				case body["UserName"] == nil:
					return 400, "ActionParameterMissing", "requires the parameter Password"
				}
				return 0, "", ""
			}
		}, ""},
		{"an image alone", func(d *drive) {
			d.inserts = func(body map[string]any, _ int) (int, string, string) {
				if len(body) > 1 {
					return 400, "ActionParameterUnknown", "no"
				}
				return 0, "", ""
			}
		}, ""},
		{"an eject that shows late", func(d *drive) { d.inserted, d.shownFor = true, 5 }, ""},
		{"an eject that is refused for a while", func(d *drive) {
			d.inserted = true
			d.ejects = func(_ map[string]any, n int) (int, string, string) {
				if n < 3 {
					return 503, "GeneralError", "in progress"
				}
				return 0, "", ""
			}
		}, ""},
		{"an insertion while it still ejects", func(d *drive) {
			d.inserted = true
			d.inserts = func(_ map[string]any, n int) (int, string, string) {
				if n < 4 {
					return 500, "GeneralError", "VRM0012"
				}
				return 0, "", ""
			}
		}, ""},
		{"a drive that is busy for good", func(d *drive) {
			d.inserts = func(map[string]any, int) (int, string, string) { return 500, "GeneralError", "busy" }
		}, "500"},
		{"an iLO without a license", func(d *drive) {
			d.inserts = func(map[string]any, int) (int, string, string) {
				return 403, "LicenseKeyRequired", "A license is required"
			}
		}, "no license for virtual media: install one"},
		{"an iDRAC without a license", func(d *drive) {
			d.inserts = func(map[string]any, int) (int, string, string) { return 400, "LIC501", "missing" }
		}, "no license for virtual media: install one"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newDrive(t)
			b.set(func() { c.make(b) })
			err := newDriver(t, redfish.Options{}).AttachMedium(t.Context(), b.node(),
				node.Medium{Device: "cdrom", Image: "http://images/a.iso"})
			if c.want == "" && (err != nil || !b.inserted || b.sent[len(b.sent)-1]["Image"] != "http://images/a.iso") {
				t.Errorf("got %v after %v", err, b.sent)
			}
			if c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got %v, want %s", err, c.want)
			}
			if len(b.sent) > 12 {
				t.Errorf("asked %d times", len(b.sent))
			}
		})
	}
}
