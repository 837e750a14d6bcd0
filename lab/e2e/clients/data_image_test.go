package clients

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/serve"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/serve/servetest"
	"github.com/ferrite-metal/ferrite/lab/qemu"
	"github.com/ferrite-metal/ferrite/lab/redfish"
	"github.com/ferrite-metal/ferrite/lab/redfish/redfishtest"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// metal3Path is where documents of hosts are.
const metal3Path = "/apis/metal3.io/v1alpha1/namespaces/default/"

// TestDataImage starts a machine with a foreign system: with an image in the virtual drive of its controller, with
// another, and without.
func TestDataImage(t *testing.T) {
	images := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/none.iso" {
			http.NotFound(w, r)
			return
		}
		http.ServeContent(w, r, "", time.Time{}, strings.NewReader("the contents of "+r.URL.Path))
	}))
	defer images.Close()
	c := servetest.Start(t, serve.Command(), t.TempDir())
	defer c.End(t)
	m := redfishtest.NewMachine()
	if err := m.Reset(t.Context(), qemu.ResetOn); err != nil {
		t.Fatal(err)
	}
	bmc := newController(t, m)
	c.Call(t, "POST", "/api/v1/namespaces/default/secrets", map[string]any{
		"metadata":   map[string]any{"name": "bmc"},
		"stringData": map[string]any{"username": redfishtest.User, "password": redfishtest.Password},
	}, http.StatusCreated)
	c.Call(t, "POST", metal3Path+"baremetalhosts",
		map[string]any{"metadata": map[string]any{"name": "m"}, "spec": map[string]any{
			"online": true, "externallyProvisioned": true, "bootMACAddress": m.Spec().NICs[0].MAC,
			"bmc": map[string]any{"address": "redfish+" + bmc, "credentialsName": "bmc"},
		}}, http.StatusCreated)
	image := func(url string) map[string]any {
		return map[string]any{"metadata": map[string]any{"name": "m"}, "spec": map[string]any{"url": url}}
	}
	c.Call(t, "POST", metal3Path+"dataimages", image("ftp://images/a.iso"), http.StatusUnprocessableEntity)
	c.Call(t, "POST", metal3Path+"dataimages", image(images.URL+"/a.iso"), http.StatusCreated)
	atRest := func(h hostapi.Host) bool { return h.Status.PoweredOn && len(h.Annotations) == 0 }
	documentBecomes(t, c, "baremetalhosts", "running", atRest)
	documentBecomes(t, c, "dataimages", "held", func(i hostapi.DataImage) bool { return len(i.Finalizers) == 1 })
	if in := m.Media(); in != "" {
		t.Errorf("before a reboot the drive has %q", in)
	}

	rebootHost(t, c)
	documentBecomes(t, c, "baremetalhosts", "rebooted", atRest)
	documentBecomes(t, c, "dataimages", "in", func(i hostapi.DataImage) bool {
		return i.Status.AttachedImage.URL == images.URL+"/a.iso"
	})
	if in := m.Media(); in != "the contents of /a.iso" {
		t.Errorf("the drive has %q", in)
	}

	changeDocument(t, c, "dataimages", func(i *hostapi.DataImage) { i.Spec.URL = images.URL + "/b.iso" })
	rebootHost(t, c)
	documentBecomes(t, c, "baremetalhosts", "rebooted", atRest)
	if in := m.Media(); in != "the contents of /b.iso" {
		t.Errorf("replaced, the drive has %q", in)
	}

	c.Call(t, "DELETE", metal3Path+"dataimages/m", nil, http.StatusOK)
	rebootHost(t, c)
	documentBecomes(t, c, "baremetalhosts", "rebooted", atRest)
	if status, answer, err := c.Send("GET", metal3Path+"dataimages/m", nil); status != http.StatusNotFound {
		t.Errorf("the deleted image is there still: %d %s, %v", status, answer, err)
	}
	if in := m.Media(); in != "" {
		t.Errorf("without an image the drive has %q", in)
	}

	c.Call(t, "POST", metal3Path+"dataimages", image(images.URL+"/none.iso"), http.StatusCreated)
	rebootHost(t, c)
	documentBecomes(t, c, "dataimages", "failed", func(i hostapi.DataImage) bool {
		return i.Status.Error.Count == 1 && i.Status.Error.Message != ""
	})
	c.Call(t, "DELETE", metal3Path+"dataimages/m", nil, http.StatusOK)
	documentBecomes(t, c, "baremetalhosts", "rebooted without it", atRest)
}

// newController returns the URL of a controller of the machine, which listens until the test ends.
func newController(t testing.TB, m redfish.Machine) string {
	t.Helper()
	controller := redfish.New(redfish.Config{Machine: m, Username: redfishtest.User, Password: redfishtest.Password,
		Log: slog.New(slog.DiscardHandler)})
	server := httptest.NewServer(controller)
	t.Cleanup(func() {
		server.Close()
		if err := controller.Close(); err != nil {
			t.Error(err)
		}
	})
	return server.URL
}

func rebootHost(t *testing.T, c *servetest.Conductor) {
	t.Helper()
	changeDocument(t, c, "baremetalhosts", func(h *hostapi.Host) {
		h.Annotations = map[string]string{hostapi.AnnotationReboot: ""}
	})
}

// changeDocument edits the document m of a kind, as people do: again, when another client was faster.
func changeDocument[T any](t *testing.T, c *servetest.Conductor, plural string, edit func(*T)) {
	t.Helper()
	for end := time.Now().Add(servetest.Patience); ; {
		doc := documentOf[T](t, c, plural)
		edit(&doc)
		status, answer, err := c.Send("PUT", metal3Path+plural+"/m", doc)
		switch {
		case err == nil && status == http.StatusOK:
			return
		case err != nil || status != http.StatusConflict || time.Now().After(end):
			t.Fatalf("%s: %d %s, %v", plural, status, answer, err)
		}
	}
}

func documentOf[T any](t *testing.T, c *servetest.Conductor, plural string) (doc T) {
	t.Helper()
	status, answer, err := c.Send("GET", metal3Path+plural+"/m", nil)
	if err != nil || status != http.StatusOK {
		t.Fatalf("%s: %d %s, %v", plural, status, answer, err)
	}
	if err := json.Unmarshal(answer, &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

// documentBecomes waits for the document m of a kind to be so.
func documentBecomes[T any](t *testing.T, c *servetest.Conductor, plural, what string, so func(T) bool) {
	t.Helper()
	var doc T
	for end := time.Now().Add(servetest.Patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if doc = documentOf[T](t, c, plural); so(doc) {
			return
		}
	}
	t.Fatalf("%s never comes to be %s: %+v\n%s", plural, what, doc, c.Log)
}
