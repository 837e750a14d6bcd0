package bootmedia_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/boot/bootmedia"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
	"github.com/ferrite-metal/ferrite/pxe"
)

const uuid = "11111111-2222-4333-8444-555555555555"

// conductor has one node.
type conductor struct {
	mutex   sync.Mutex
	n       node.Node
	stages  []string
	refused []string
}

func (c *conductor) Node(_ context.Context, ref string) (node.Node, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if ref != c.n.UUID && ref != c.n.Name {
		return node.Node{}, node.ErrNotFound
	}
	return c.n.Clone(), nil
}

func (c *conductor) BootStage(_, stage, _ string) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.stages = append(c.stages, stage)
}

func (c *conductor) MediumRefused(_ context.Context, _ node.Node, from netip.Addr, why string) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.refused = append(c.refused, from.String()+" "+why)
}

func (c *conductor) change(do func(*node.Node)) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	do(&c.n)
}

// rig is a server with a node that is about to boot.
type rig struct {
	*bootmedia.Server
	conductor *conductor
	boot      pxe.Boot
	config    bootmedia.Config
}

func newRig(t *testing.T) *rig {
	t.Helper()
	dir := t.TempDir()
	for name, size := range map[string]int{"isolinux.bin": 2048, "ldlinux.c32": 10, "isohdpfx.bin": 432,
		"gcdx64.efi": 10,
		"kernel":     300_000, "initrd": 500_000} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(strings.Repeat(name[:1], size)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r := &rig{conductor: &conductor{n: node.Node{
		UUID: uuid, Name: "metal-1", ProvisionState: node.Deploying, Driver: "redfish",
		Interfaces:         map[string]string{"boot": "redfish-virtual-media"},
		DriverInfo:         map[string]any{"redfish_address": "https://192.0.2.7"},
		DriverInternalInfo: map[string]any{"boot_medium": plan.MediumRamdisk},
		Run: &node.Run{Activity: "deploy", Generation: 7, Index: 1, Steps: []node.Step{
			{Interface: "power", Step: "power_off"}, {Interface: "management", Step: "insert_boot_medium"},
			{Interface: "agent", Step: "wait_for_heartbeat"}}},
	}}, boot: pxe.Boot{Action: pxe.Ramdisk, Kernel: filepath.Join(dir, "kernel"), Initrd: filepath.Join(dir, "initrd"),
		Cmdline: "ipa-agent-token=word"}}
	r.config = bootmedia.Config{Conductor: r.conductor, URL: "http://bmc-net:7080", Loaders: dir, Key: []byte("key"),
		Content:  func(context.Context, node.Node) (pxe.Boot, error) { return r.boot, nil },
		Settings: func(context.Context, node.Node) (string, error) { return r.boot.Cmdline + " boot_method=vmedia", nil },
		Client:   http.DefaultClient, Log: slog.New(slog.DiscardHandler)}
	r.Server = bootmedia.New(r.config)
	return r
}

// path is the node's medium.
func (r *rig) path(t *testing.T) string {
	t.Helper()
	u, err := r.MediumURL(t.Context(), r.conductor.n)
	if err != nil {
		t.Fatal(err)
	}
	path, ours := strings.CutPrefix(u, "http://bmc-net:7080")
	if !ours || !strings.HasPrefix(path, bootmedia.Prefix) || !strings.HasSuffix(path, "/"+uuid+"-1.iso") {
		t.Fatalf("the URL is %s", u)
	}
	return path
}

func (r *rig) ask(method, path, from, bytes string) *httptest.ResponseRecorder {
	req := httptest.NewRequest(method, path, nil)
	req.RemoteAddr = from + ":1234"
	if bytes != "" {
		req.Header.Set("Range", "bytes="+bytes)
	}
	w := httptest.NewRecorder()
	r.ServeHTTP(w, req)
	return w
}

// TestRead: HEAD, the whole, and ranges are of one image; it shows how far the machine has come, once.
func TestRead(t *testing.T) {
	r := newRig(t)
	path := r.path(t)
	head := r.ask(http.MethodHead, path, "192.0.2.7", "")
	if head.Code != 200 || head.Header().Get("Accept-Ranges") != "bytes" || len(r.conductor.stages) > 0 {
		t.Fatalf("HEAD: %d %v, stages %v", head.Code, head.Header(), r.conductor.stages)
	}
	all := r.ask(http.MethodGet, path, "192.0.2.7", "").Body.String()
	if fmt.Sprint(len(all)) != head.Header().Get("Content-Length") || !strings.Contains(all, "'ipa-agent-token=word'") {
		t.Errorf("%d bytes, HEAD says %s", len(all), head.Header().Get("Content-Length"))
	}
	part := r.ask(http.MethodGet, path, "192.0.2.7", "32768-34815")
	if part.Code != http.StatusPartialContent || part.Body.String() != all[32768:34816] {
		t.Errorf("a range: %d, %d bytes", part.Code, part.Body.Len())
	}
	if got := r.ask(http.MethodGet, path, "192.0.2.7",
		"99999999-").Code; got != http.StatusRequestedRangeNotSatisfiable {
		t.Errorf("a range behind the end: %d", got)
	}
	if got := r.ask(http.MethodPost, path, "192.0.2.7", "").Code; got != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d", got)
	}
	seen := map[string]int{}
	for _, s := range r.conductor.stages {
		seen[s]++
	}
	if diff := cmp.Diff(map[string]int{"boot medium read": 1, "kernel": 1, "ramdisk": 1}, seen); diff != "" {
		t.Errorf("stages (-want +got):\n%s", diff)
	}
}

// TestTwice: two readers at once get the same bytes.
func TestTwice(t *testing.T) {
	r := newRig(t)
	path := r.path(t)
	var group sync.WaitGroup
	var bodies [4]string
	for i := range bodies {
		group.Go(func() { bodies[i] = r.ask(http.MethodGet, path, "192.0.2.7", "").Body.String() })
	}
	group.Wait()
	for _, b := range bodies {
		if b != bodies[0] || b == "" {
			t.Error("readers at one time get different bytes")
		}
	}
}

func TestRefused(t *testing.T) {
	for name, tc := range map[string]struct {
		before func(t *testing.T, r *rig, path string) string
		from   string
		status int
		noted  string
	}{
		"a stranger after the BMC": {func(_ *testing.T, r *rig, path string) string {
			r.ask(http.MethodHead, path, "192.0.2.7", "")
			return path
		}, "198.51.100.9", 403, "198.51.100.9 192.0.2.7 reads this medium"},
		"the first address may be another": {func(_ *testing.T, _ *rig, path string) string { return path },
			"198.51.100.9", 200, ""},
		"the BMC after another": {func(_ *testing.T, r *rig, path string) string {
			r.ask(http.MethodHead, path, "198.51.100.9", "")
			return path
		}, "192.0.2.7", 200, ""},
		"a second other": {func(_ *testing.T, r *rig, path string) string {
			r.ask(http.MethodHead, path, "198.51.100.9", "")
			return path
		}, "198.51.100.10", 403, "198.51.100.10 198.51.100.9 reads this medium"},
		"the run is over": {func(_ *testing.T, r *rig, path string) string {
			r.conductor.change(func(n *node.Node) { n.Run = nil })
			return path
		}, "192.0.2.7", 410, "its boot is over"},
		"another run": {func(_ *testing.T, r *rig, path string) string {
			r.conductor.change(func(n *node.Node) { n.Run.Generation = 8 })
			return path
		}, "192.0.2.7", 410, "its boot is over"},
		"it was ejected": {func(_ *testing.T, r *rig, path string) string {
			r.conductor.change(func(n *node.Node) { n.DriverInternalInfo = nil })
			return path
		}, "192.0.2.7", 410, "its boot is over"},
		"a guess": {func(_ *testing.T, _ *rig, path string) string {
			return strings.Replace(path, path[8:12], "AAAA", 1)
		}, "192.0.2.7", 404, ""},
		"another step's word": {func(_ *testing.T, _ *rig, path string) string {
			return strings.Replace(path, "-1.iso", "-2.iso", 1)
		}, "192.0.2.7", 404, ""},
		"by the node's name": {func(_ *testing.T, _ *rig, path string) string {
			return strings.Replace(path, uuid, "metal-1", 1)
		}, "192.0.2.7", 404, ""},
		"no such node": {func(_ *testing.T, _ *rig, path string) string {
			return strings.Replace(path, uuid, "31111111-2222-4333-8444-555555555555", 1)
		}, "192.0.2.7", 404, ""},
		"no name": {func(*testing.T, *rig, string) string { return bootmedia.Prefix + "x" }, "192.0.2.7", 404, ""},
		"no step": {func(*testing.T, *rig, string) string { return bootmedia.Prefix + "x/" + uuid + ".iso" },
			"192.0.2.7", 404, ""},
		"no kernel": {func(_ *testing.T, r *rig, path string) string {
			r.boot.Kernel = "/nowhere"
			return path
		}, "192.0.2.7", 500, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			path := tc.before(t, r, r.path(t))
			w := r.ask(http.MethodGet, path, tc.from, "0-9")
			if status := w.Code; status != tc.status && (tc.status != 200 || status != 206) {
				t.Errorf("status %d, want %d: %s", status, tc.status, w.Body)
			}
			noted := strings.Join(r.conductor.refused, ";")
			if (tc.noted == "") != (noted == "") || !strings.Contains(noted, tc.noted) {
				t.Errorf("noted %q, want %q", noted, tc.noted)
			}
		})
	}
}

// TestRestart: a conductor that starts again serves the medium that the one before it gave out.
func TestRestart(t *testing.T) {
	r := newRig(t)
	path := r.path(t)
	r.Server = bootmedia.New(r.config)
	if got := r.ask(http.MethodGet, path, "192.0.2.7", "0-9").Code; got != http.StatusPartialContent {
		t.Errorf("status %d", got)
	}
}

// TestNotMade: no medium is given out that could not be read.
func TestNotMade(t *testing.T) {
	for want, spoil := range map[string]func(*rig){
		"no such file":    func(r *rig) { r.boot.Initrd = "/nowhere" },
		"not a regular":   func(r *rig) { r.boot.Kernel = os.TempDir() },
		"at most 262144":  func(r *rig) { r.boot.Overlay = strings.Repeat("a", 300_000) },
		"quote":           func(r *rig) { r.boot.Cmdline = `a="b c"` },
		"isolinux.bin":    func(r *rig) { r.config.Loaders = "/nowhere"; r.Server = bootmedia.New(r.config) },
		"boots no medium": func(r *rig) { r.conductor.n.Run = nil },
	} {
		r := newRig(t)
		spoil(r)
		if u, err := r.MediumURL(t.Context(), r.conductor.n); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s, %v, want %q", u, err, want)
		}
	}
}

// TestRemote: kernel and ramdisk at URLs are read in blocks, as they are needed.
func TestRemote(t *testing.T) {
	r := newRig(t)
	text := strings.Repeat("0123456789abcdef", 300_000)
	asked, answer := 0, http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		http.ServeContent(w, q, "", time.Time{}, strings.NewReader(text))
	})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		asked++
		answer(w, q)
	}))
	defer server.Close()
	r.boot.Initrd = server.URL + "/initrd"
	path := r.path(t)
	all := r.ask(http.MethodGet, path, "192.0.2.7", "").Body.String()
	if !strings.Contains(all, text) || asked > 8 {
		t.Errorf("the ramdisk is not in the image, after %d requests", asked)
	}
	text = text[:100]
	r.Server = bootmedia.New(r.config)
	if got := r.ask(http.MethodGet, path, "192.0.2.7", "0-9").Code; got != http.StatusPartialContent {
		t.Errorf("a shorter one: %d", got)
	}
	answer = func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) }
	r.boot.Kernel = server.URL + "/kernel"
	if w := r.ask(http.MethodGet, path, "192.0.2.7", ""); strings.Contains(w.Body.String(), text) &&
		w.Body.Len() > 200_000 {
		t.Errorf("a server without ranges: %d, %d bytes", w.Code, w.Body.Len())
	}
	server.Close()
	r.Server = bootmedia.New(r.config)
	if _, err := r.MediumURL(t.Context(), r.conductor.n); err == nil || !strings.Contains(err.Error(), "refused") {
		t.Errorf("a server that is gone: %v", err)
	}
}
