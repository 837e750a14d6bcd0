package api_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// TestReplay repeats, in order, requests that were recorded with a live Ironic. It compares status, headers and the
// shape of the answers. deviations_test.go lists our deliberate differences.
func TestReplay(t *testing.T) {
	c := newConductor(t)
	r := &replay{conductor: c, ids: map[string]string{}, left: deviations()}
	exchanges := readTranscripts(t)
	for _, e := range exchanges {
		t.Run(e.id+" "+e.method+" "+e.path, func(t *testing.T) { r.one(t, e) })
	}
	for id := range r.left {
		t.Errorf("deviation %s: there is no such exchange", id)
	}
	if strings.Contains(c.Log.String(), "level=ERROR") {
		t.Errorf("log has errors:\n%s", c.Log)
	}
}

type replay struct {
	*conductor
	ids  map[string]string // Ironic's UUIDs and tokens to ours
	left map[string]deviation
	free func() // lets the BMCs answer again
}

func (r *replay) one(t *testing.T, e exchange) {
	d := r.left[e.id]
	delete(r.left, e.id)
	if before := scenes()[e.id].before; before != nil {
		before(t, r)
	}
	got := r.repeat(t, e)
	want := e.status
	if d.status != 0 {
		want = d.status
	}
	if got.status != want {
		t.Errorf("%s at %q: status %d, Ironic's %d\nsent: %.300s\nours: %.300s\nIronic's: %.300s", e.id, e.version,
			got.status, e.status, e.sent, got.body, e.body)
	}
	r.learn(e, got)
	if got.status == http.StatusCreated && e.path == "/v1/allocations" {
		r.allocated(got.doc(t)["uuid"].(string))
	}
	if want == e.status && !d.shape {
		r.compare(t, e, got)
	}
	if scenes()[e.id].busy {
		return
	}
	if got.status == http.StatusAccepted && strings.HasPrefix(e.path, "/v1/nodes/") {
		r.settle(r.translate(strings.Split(e.path, "/")[3]))
	}
}

// repeat sends an exchange's request. Versions Ironic 21.4 did not have become
// versions we do not have.
func (r *replay) repeat(t *testing.T, e exchange) reply {
	t.Helper()
	path := r.translate(e.path)
	req, err := http.NewRequestWithContext(context.Background(), e.method, r.URL+path,
		strings.NewReader(r.translate(e.sent)))
	if err != nil {
		t.Fatal(err)
	}
	req.Header = e.header.Clone()
	if e.versioned {
		version := map[string]string{"1.83": "1.116", "latest": "1.82", "LATEST": "1.82"}[e.version]
		if version == "" {
			version = e.version
		}
		req.Header[nodeapi.HeaderVersion] = []string{version}
	}
	return r.send(req)
}

func (r *replay) translate(s string) string {
	for theirs, ours := range r.ids {
		s = strings.ReplaceAll(s, theirs, ours)
	}
	return s
}

// learn maps UUIDs and tokens that Ironic made up to ours.
func (r *replay) learn(e exchange, got reply) {
	var theirs, ours struct {
		UUID   string `json:"uuid"`
		Config struct {
			Token string `json:"agent_token"`
		} `json:"config"`
	}
	if json.Unmarshal([]byte(e.body), &theirs) != nil || json.Unmarshal([]byte(got.body), &ours) != nil {
		return
	}
	for _, pair := range [][2]string{{theirs.UUID, ours.UUID}, {theirs.Config.Token, ours.Config.Token}} {
		if len(pair[0]) > 10 && pair[1] != "" && pair[0] != pair[1] {
			r.ids[pair[0]] = pair[1]
		}
	}
}

func (r *replay) compare(t *testing.T, e exchange, got reply) {
	t.Helper()
	for _, name := range []string{nodeapi.HeaderMinVersion, nodeapi.HeaderVersion, "Location", "Content-Type"} {
		theirs, ours := e.answered.Get(name), got.header.Get(name)
		theirs = r.translate(strings.ReplaceAll(theirs, "http://127.0.0.1:6385", r.URL))
		if name == nodeapi.HeaderMinVersion && theirs == "" || name == "Content-Type" && e.body == "" {
			continue // on an unknown path we send versions, too
		}
		if name == nodeapi.HeaderVersion && e.status >= http.StatusNotFound && theirs == "" {
			continue
		}
		if theirs != ours && theirs != "" {
			t.Errorf("%s: %s is %q, Ironic's %q", e.id, name, ours, theirs)
		}
	}
	if e.status >= http.StatusBadRequest {
		if e.body != "" && errorForm(e.body) != errorForm(got.body) {
			t.Errorf("%s: the error has the %s form, Ironic's the %s form: %s", e.id, errorForm(got.body),
				errorForm(e.body), got.body)
		}
		return
	}
	if (e.body == "") != (got.body == "") {
		t.Errorf("%s: body %q, Ironic's %q", e.id, got.body, e.body)
	}
	var theirs, ours any
	if e.body == "" || json.Unmarshal([]byte(e.body), &theirs) != nil {
		return
	}
	if err := json.Unmarshal([]byte(got.body), &ours); err != nil {
		t.Errorf("%s: %v in %q", e.id, err, got.body)
	}
	for _, diff := range compareShapes("", theirs, ours) {
		t.Errorf("%s: %s", e.id, diff)
	}
}
