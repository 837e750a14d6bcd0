package bootmedia_test

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/images/fat"
)

// TestSettings: the settings of the agent are a floppy image under the base URL of the node, with a word in each line.
// The boot medium has another path, and both end with the boot.
func TestSettings(t *testing.T) {
	r := newRig(t)
	r.conductor.n.DriverInfo["external_http_url"] = "https://outside.example/ferrite/"
	at, err := r.SettingsURL(t.Context(), r.conductor.n)
	if err != nil {
		t.Fatal(err)
	}
	path, ok := strings.CutPrefix(at, "https://outside.example/ferrite")
	if !ok || !strings.HasSuffix(path, "/"+uuid+"-1.img") {
		t.Fatalf("the URL is %s", at)
	}
	got := r.ask(http.MethodGet, path, "192.0.2.7", "")
	floppy, err := fat.Open(bytes.NewReader(got.Body.Bytes()))
	if err != nil {
		t.Fatalf("%d %v", got.Code, err)
	}
	text, err := floppy.ReadFile("parameters.txt", 1<<16)
	if want := "ipa-agent-token=word\nboot_method=vmedia\n"; err != nil || string(text) != want {
		t.Errorf("the settings are %q, %v; want %q", text, err, want)
	}
	if !bytes.Contains(got.Body.Bytes()[:512], []byte("ir-vfd-dev")) {
		t.Error("the image does not have the label by which agents find it")
	}
	if forged := strings.TrimSuffix(path, "img") + "iso"; r.ask(http.MethodGet, forged, "192.0.2.7", "").Code != 404 {
		t.Error("the word of the settings opens the boot medium")
	}
	if other := r.ask(http.MethodGet, path, "192.0.2.8", ""); other.Code != http.StatusForbidden {
		t.Errorf("another address gets %d", other.Code)
	}
	r.conductor.change(func(n *node.Node) { n.Run.Index = 3; n.Run.Generation++ })
	if over := r.ask(http.MethodGet, path, "192.0.2.7", ""); over.Code != http.StatusGone {
		t.Errorf("after the boot: %d", over.Code)
	}
}
