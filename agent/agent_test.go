package agent

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"go.uber.org/goleak"

	"github.com/ferrite-metal/ferrite/agent/clock"
	"github.com/ferrite-metal/ferrite/agent/disk"
	"github.com/ferrite-metal/ferrite/agent/logbook"
	"github.com/ferrite-metal/ferrite/agent/param"
	"github.com/ferrite-metal/ferrite/agent/screen"
	"github.com/ferrite-metal/ferrite/agent/steps"
	"github.com/ferrite-metal/ferrite/images/configdrive"
	"github.com/ferrite-metal/ferrite/images/disk/disktest"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

func TestMain(m *testing.M) {
	// idle connections of test servers
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("internal/poll.runtime_pollWait"),
		goleak.IgnoreTopFunction("net/http.(*persistConn).writeLoop"))
}

const mib = 1 << 20

// live runs an agent against c until the test ends.
func live(t *testing.T, c *conductor, cmdline string) (*machine, string, func() error) {
	t.Helper()
	pin := sha256.Sum256(c.Certificate().Raw)
	p, problems, err := param.Parse("ipa-api-url=" + c.URL + " ferrite-api-sha256=" + hex.EncodeToString(pin[:]) +
		" ipa-disk-wait-attempts=1 " + cmdline)
	if err != nil || problems != nil {
		t.Fatal(err, problems)
	}
	file := filepath.Join(t.TempDir(), "vda")
	if err := os.WriteFile(file, bytes.Repeat([]byte("old data"), mib/8), 0o600); err != nil {
		t.Fatal(err)
	}
	settled := make(chan struct{})
	close(settled)
	m := &machine{board: screen.NewBoard()}
	book, stream := &logbook.Book{}, &logbook.Stream{}
	book.Add(stream)
	text := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s + "\n")} }
	a := New(Options{
		Params: p, Kernel: m, Network: m, Settled: settled, Arch: "amd64", Listen: "127.0.0.1:0", Book: book, Stream: stream,
		Board: m.board, Rescue: m.Rescue, Clock: clock.NewKeeper(m, slog.New(slog.DiscardHandler)),
		Root: fstest.MapFS{
			"sys/class/net/eth0/address": text(nodeMAC), "sys/class/net/eth0/type": text("1"),
			"sys/class/net/eth0/device/vendor": text("0x1af4"),
			"sys/class/net/eth0/carrier":       text("1"), "sys/block/vda/size": text("262144"),
			"sys/block/vda/device": link("../../devices/virtio0"), "sys/devices/virtio0/subsystem": link("../../bus/virtio"),
			"proc/meminfo":       text("MemTotal: 481284 kB"),
			"sys/block/sr0/size": text("8"), "sys/block/sr0/device": link("../../devices/scsi0"),
			"sys/devices/scsi0/subsystem": link("../../bus/scsi"), "sys/devices/scsi0/type": text("5"),
			"sys/class/dmi/id/product_uuid": text("4C4C4544-0043-4A10-8052-B4C04F4D3432"),
			"sys/class/dmi/id/sys_vendor":   text("QEMU"), "sys/class/dmi/id/product_serial": text("S-1"),
		},
		Open: func(context.Context, string) (steps.Device, error) {
			f, err := disktest.CreateFileTarget(file, 128*mib)
			return fileDisk{FileTarget: f}, err
		},
		LoadModule: func(string) {},
		EFIVars:    func() disk.EFIVars { return nil },
		Log:        book.Logger(true, func() time.Duration { return 0 }),
	})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	var once sync.Once
	stop := func() (err error) {
		once.Do(func() {
			cancel()
			select {
			case err = <-ended:
			case <-time.After(patience):
				t.Errorf("the agent did not end; its log:\n%s", book.Tail())
			}
		})
		return err
	}
	t.Cleanup(func() {
		_ = stop()
		if t.Failed() {
			t.Logf("the agent's log:\n%s", book.Tail())
		}
	})
	return m, file, stop
}

// checkClock: the RTC, which says 1970, is set from the conductor's answer before the
// machine is inspected, and the data has both times.
func checkClock(t *testing.T, c *conductor, m *machine) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	got := c.inspection.Clock
	if got == nil || got.RTC != "1970-01-01T00:00:00Z" || got.System == "" || got.Conductor == "" || !got.Pinned ||
		!got.RTCSet || got.Set != "" {
		t.Errorf("clocks %+v", got)
	}
	if off := time.Since(time.Unix(m.rtc.Load(), 0)).Abs(); off > patience {
		t.Errorf("the RTC is off by %s", off)
	}
}

// TestWholeLife takes an agent from inspection to power off.
func TestWholeLife(t *testing.T) {
	c := newConductor(t, true)
	m, file, stop := live(t, c, "ipa-inspection-callback-url="+c.URL+"/v1/continue_inspection BOOTIF=01-52-54-00-77-00-06")
	first := c.beat()
	if first.AgentToken != nodeToken || first.AgentVersion != Version ||
		!strings.HasPrefix(first.CallbackURL, "https://127.0.0.1:") {
		t.Fatalf("heartbeat %+v", first)
	}
	checkInspection(t, c)
	checkClock(t, c, m)
	agent := c.commander(first)

	listed := agent.send("clean.get_clean_steps", recordedParams(t, "clean.get_clean_steps"), true)
	var steps agentapi.Steps
	if err := json.Unmarshal(listed.Result, &steps); err != nil || listed.Status != agentapi.Succeeded ||
		len(steps.Clean) != 1 {
		t.Fatalf("steps %s, %v", listed.Result, err)
	}
	clean(t, c, agent)
	deploy(t, c, agent, file)

	if r := agent.send("standby.get_partition_uuids", map[string]any{},
		true); string(r.Result) != `{"root uuid":"0x00000000"}` {
		t.Errorf("partition uuids %s", r.Result)
	}
	if r := agent.send("image.install_bootloader", recordedParams(t, "image.install_bootloader"),
		true); r.Status != agentapi.Succeeded || string(r.Result) != "null" {
		t.Errorf("bootloader %+v", r)
	}
	if r := agent.send("standby.sync", map[string]any{}, true); r.Status != agentapi.Succeeded || m.synced.Load() != 1 {
		t.Errorf("sync %+v", r)
	}
	checkBoard(t, c, m)
	if r := agent.send("log.collect_system_logs", map[string]any{}, true); !bytes.Contains(r.Result,
		[]byte(`{"system_logs":"H4sI`)) {
		t.Errorf("logs %.100s", r.Result)
	}
	if r := agent.send("poll.get_hardware_info", map[string]any{}, true); !bytes.Contains(r.Result, []byte(nodeMAC)) {
		t.Errorf("hardware %s", r.Result)
	}
	status, all := agent.list("?agent_token=" + nodeToken)
	if status != http.StatusOK || len(all) != 8 || all[0].ID != listed.ID || all[2].Name != "execute_deploy_step" {
		t.Errorf("%d: commands %+v", status, all)
	}
	if status, _ := agent.list(""); status != http.StatusUnauthorized {
		t.Errorf("list without token: %d", status)
	}
	if r := agent.send("standby.power_off", map[string]any{}, true); r.Status != agentapi.Succeeded || m.off.Load() != 1 {
		t.Errorf("power off %+v", r)
	}
	if err := stop(); !errors.Is(err, context.Canceled) {
		t.Errorf("the agent ended with %v", err)
	}
}

// checkInspection checks the data sent before lookup, and that the answer's node is looked up by name.
func checkInspection(t *testing.T, c *conductor) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	i := c.inspection
	if i == nil || i.RootDisk == nil || i.RootDisk.Name != "/dev/vda" || i.BootInterface != "01-52-54-00-77-00-06" ||
		i.Inventory.Memory.Total != 481284<<10 || i.Logs == "" {
		t.Fatalf("inspection data %+v", i)
	}
	if len(i.SkippedDisks) != 1 || i.SkippedDisks[0].Name != "/dev/sr0" ||
		i.SystemUUID != "4c4c4544-0043-4a10-8052-b4c04f4d3432" {
		t.Errorf("skipped disks %v, system UUID %q", i.SkippedDisks, i.SystemUUID)
	}
	if want := "addresses=52%3A54%3A00%3A77%3A00%3A06&node_uuid=" + nodeUUID; len(c.lookups) != 1 || c.lookups[0] != want {
		t.Errorf("lookups %v", c.lookups)
	}
}

// clean runs the metadata step: RUNNING, a forced heartbeat, the echo.
func clean(t *testing.T, c *conductor, agent *commander) {
	t.Helper()
	params := recordedParams(t, "clean.execute_clean_step")
	params["clean_version"] = nil
	r := agent.send("clean.execute_clean_step", params, false)
	if r.Name != "execute_clean_step" || r.Error != nil {
		t.Fatalf("clean %+v", r)
	}
	c.beat()
	_, all := agent.list("?agent_token=" + nodeToken)
	last := all[len(all)-1]
	if last.ID != r.ID || last.Status != agentapi.Succeeded {
		t.Fatalf("clean ended as %+v", last)
	}
	equalJSON(t, "clean result", last.Result, map[string]any{"clean_result": nil, "clean_step": params["step"]})
}

// deploy writes an image with a config drive.
func deploy(t *testing.T, c *conductor, agent *commander, file string) {
	t.Helper()
	content := mbrImage()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(w, r, "image", time.Unix(1, 0), bytes.NewReader(content))
	}))
	defer srv.Close()
	drive, err := configdrive.Build(configdrive.Label, map[string][]byte{"openstack/latest/meta_data.json": []byte("{}")})
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(content)
	packed := base64.StdEncoding.EncodeToString(drive)
	params := recordedParams(t, "deploy.execute_deploy_step")
	params["deploy_version"] = nil
	step := params["step"].(map[string]any)
	info := step["args"].(map[string]any)["image_info"].(map[string]any)
	info["urls"], info["disk_format"], info["os_hash_value"] = []any{srv.URL}, "raw", hex.EncodeToString(sum[:])
	info["configdrive"], step["args"].(map[string]any)["configdrive"] = packed, packed
	r := agent.send("deploy.execute_deploy_step", params, true)
	c.beat()
	if r.Status != agentapi.Succeeded {
		t.Fatalf("deploy %+v", r.Error)
	}
	equalJSON(t, "deploy result", r.Result, map[string]any{
		"deploy_result": map[string]any{"result": "prepare_image: image (tiny.qcow2) written to device /dev/vda " +
			"root_uuid=0x00000000"},
		"deploy_step": step,
	})
	disk, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(disk[2*mib:4*mib], content[2*mib:4*mib]) || !bytes.Contains(disk[64*mib:], drive[32<<10:34<<10]) {
		t.Error("image or config drive is not on the disk")
	}
}

// mbrImage is a disk image with one partition in an MBR.
func mbrImage() []byte {
	b := bytes.Repeat([]byte("file system "), 4*mib/12+1)[:4*mib]
	clear(b[:512])
	copy(b[446:], []byte{0x80, 0, 0, 0, 0x83, 0, 0, 0, 0, 8, 0, 0, 0, 0x10, 0, 0}) // from sector 2048, 4096 long
	b[510], b[511] = 0x55, 0xaa
	return b
}

// TestFailedStep: a wrong version and a wrong checksum end as Ironic expects.
func TestFailedStep(t *testing.T) {
	c := newConductor(t, true)
	_, _, _ = live(t, c, "")
	agent := c.commander(c.beat())
	params := recordedParams(t, "clean.execute_clean_step") // planned for another agent's version
	if r := agent.send("clean.execute_clean_step", params, true); r.Status != agentapi.CleanVersionMismatch {
		t.Errorf("version: %+v", r)
	}
	if r := agent.send("deploy.execute_deploy_step", map[string]any{"step": map[string]any{"step": "burnin_disk"}},
		true); r.Status != agentapi.Failed || r.Error.Type != "HardwareManagerMethodNotFound" {
		t.Errorf("unknown step: %+v", r)
	}
	if r := agent.send("clean.execute_clean_step", map[string]any{"step": 5}, true); r.Status != agentapi.Failed ||
		r.Error.Code != 400 {
		t.Errorf("step that is none: %+v", r)
	}
}

// TestStandby: an image outside of steps goes to the node as it is now, and a failure is reported.
func TestStandby(t *testing.T) {
	c := newConductor(t, true)
	_, _, _ = live(t, c, "")
	agent := c.commander(c.beat())
	r := agent.send("standby.prepare_image",
		map[string]any{"image_info": map[string]any{"id": "x", "urls": []any{"file:///etc/passwd"}}}, true)
	if r.Status != agentapi.Failed || r.Error.Type != "InvalidImage" ||
		!strings.Contains(r.Error.Details, "not an http(s) URL") {
		t.Errorf("prepare_image %+v", r)
	}
	if len(c.lookups) != 2 || !strings.HasSuffix(c.lookups[1], "&node_uuid="+nodeUUID) {
		t.Errorf("lookups %v", c.lookups)
	}
	if r := agent.send("standby.run_image", map[string]any{}, true); r.Status != agentapi.Failed ||
		r.Error.Details != "not asked for" {
		t.Errorf("run_image %+v", r)
	}
	if r := agent.send("standby.get_partition_uuids", map[string]any{}, true); string(r.Result) != "{}" {
		t.Errorf("partition uuids before an image: %s", r.Result)
	}
}

// TestLocksDown: the token was given to another agent.
func TestLocksDown(t *testing.T) {
	c := newConductor(t, true)
	c.issued = true
	m, _, stop := live(t, c, "")
	for deadline := time.Now().Add(patience); m.down.Load() == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the network is still up")
		}
	}
	if err := stop(); !errors.Is(err, ErrLockedDown) {
		t.Errorf("ended with %v", err)
	}
	if len(c.beats) != 0 {
		t.Error("a locked down agent sent heartbeats")
	}
}

// TestTokenOfVirtualMedia: a masked token is enough for an agent that has the real one.
func TestTokenOfVirtualMedia(t *testing.T) {
	c := newConductor(t, true)
	c.issued = true
	_, _, _ = live(t, c, "ipa-agent-token="+nodeToken)
	if b := c.beat(); b.AgentToken != nodeToken {
		t.Errorf("heartbeat %+v", b)
	}
}

// TestOldConductors: a conductor that sends no token with GET, and a conductor that cannot take certificates.
func TestOldConductors(t *testing.T) {
	c := newConductor(t, false)
	c.max = "1.82"
	_, _, _ = live(t, c, "")
	if status, _ := c.commander(c.beat()).list(""); status != http.StatusOK {
		t.Errorf("list without token: %d", status)
	}
	old := newConductor(t, false)
	old.max = "1.67"
	_, _, _ = live(t, old, "")
	if b := old.beat(); b.AgentVerifyCA != "" || !strings.HasPrefix(b.CallbackURL, "http://") {
		t.Errorf("heartbeat %+v", b)
	}
}

// TestWrongPin: an agent does not talk to a server without the pinned certificate.
func TestWrongPin(t *testing.T) {
	c := newConductor(t, true)
	_, _, stop := live(t, c, "ferrite-api-sha256="+strings.Repeat("00", 32))
	c.hungUp()
	_ = stop() // it was still trying
	if len(c.lookups) != 0 || len(c.beats) != 0 {
		t.Errorf("lookups %v", c.lookups)
	}
}

// link is a symbolic link in a tree.
func link(to string) *fstest.MapFile {
	return &fstest.MapFile{Mode: fs.ModeSymlink, Data: []byte(to)}
}
