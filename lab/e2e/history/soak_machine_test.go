//go:build cluster

package history

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/lab/agenttest"
	"github.com/ferrite-metal/ferrite/lab/qemu"
	"github.com/ferrite-metal/ferrite/lab/redfish/redfishtest"
)

// image is the URL and the checksum of a deploy's image.
type image struct{ url, checksum string }

// serveImage serves an image until the test ends.
func serveImage(t *testing.T) image {
	t.Helper()
	raw := bytes.Repeat([]byte("an image "), 1024)
	sum := sha256.Sum256(raw)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(w, r, "os.raw", time.Unix(0, 0), bytes.NewReader(raw))
	}))
	t.Cleanup(server.Close)
	return image{server.URL + "/os.raw", hex.EncodeToString(sum[:])}
}

// soakMachine is a machine that is many nodes, one after the other.
type soakMachine struct {
	*machine
	mac   string
	agent *agenttest.Machine
}

// newSoakMachines makes machines with BMCs and agents.
func newSoakMachines(w *world, count int) chan *soakMachine {
	free := make(chan *soakMachine, count)
	for nth := range count {
		m := &soakMachine{machine: newMachine(w.t), mac: fmt.Sprintf("52:54:00:01:00:%02x", nth)}
		server := httptest.NewUnstartedServer(nil)
		m.agent = agenttest.New(agenttest.Config{MAC: m.mac, URL: "http://" + server.Listener.Addr().String(),
			Call: func(method, path string, body, answer any) (int, error) { return w.ask("", method, path, body, answer) },
			Boot: time.Second, Step: time.Second, Beat: 20 * time.Second, Off: m.off})
		server.Config.Handler = m.agent
		server.Start()
		w.t.Cleanup(server.Close)
		m.pushed = func(on bool) { m.agent.Power(on && m.Boot().Target != qemu.TargetHdd) } // a disk has no agent
		free <- m
	}
	return free
}

// off carries out the agent's command to power off: no button is pressed.
func (m *soakMachine) off() {
	m.mu.Lock()
	defer m.mu.Unlock()
	_ = m.Machine.Reset(context.Background(), qemu.ResetForceOff) // it never fails
	m.agent.Power(false)
}

// body enrolls the machine.
func (m *soakMachine) body(id string, os image) map[string]any {
	return map[string]any{"uuid": id, "driver": "redfish", "driver_info": map[string]any{
		"redfish_address": m.server.URL, "redfish_username": redfishtest.User, "redfish_password": redfishtest.Password,
		"deploy_kernel": "http://127.0.0.1/kernel", "deploy_ramdisk": "http://127.0.0.1/ramdisk",
	}, "instance_info": map[string]any{
		"image_source": os.url, "image_os_hash_algo": "sha256", "image_os_hash_value": os.checksum,
		"image_disk_format": "raw",
	}}
}
