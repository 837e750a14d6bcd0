package redfish

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/lab/qemu"
)

// fakeMachine is a machine in memory. Like the real one it clears an
// override for once when it starts.
type fakeMachine struct {
	mu     sync.Mutex
	power  qemu.Power
	boot   qemu.Boot
	media  string
	resets []qemu.ResetType
	fail   error // what SetBoot, Reset and the tray answer
}

func newFake() *fakeMachine {
	return &fakeMachine{
		power: qemu.Off, boot: qemu.Boot{Target: qemu.TargetNone, Enabled: qemu.Disabled, Firmware: qemu.UEFI},
	}
}

func (f *fakeMachine) Spec() qemu.Spec {
	return qemu.Spec{
		Name: "node-0", UUID: "6aaf4df9-c601-5e47-a343-0856024bd9c3", Serial: "NODE-0",
		Firmware: qemu.UEFI, MemoryMB: 1536, CPUs: 2,
		Disks: []qemu.Disk{
			{SizeMB: 1024, Bus: qemu.BusVirtio, Serial: "node-0-0", LogicalSectorSize: 512},
			{SizeMB: 2048, Bus: qemu.BusNVMe, Serial: "node-0-1", LogicalSectorSize: 4096},
		},
		NICs: []qemu.NIC{{MAC: "52:54:00:77:00:01", Tap: "tap0"}, {MAC: "52:54:00:77:00:02"}},
	}
}

func (f *fakeMachine) Power() qemu.Power {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.power
}

func (f *fakeMachine) Boot() qemu.Boot {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.boot
}

func (f *fakeMachine) SetBoot(b qemu.Boot) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := errors.Join(b.Validate(), f.fail); err != nil {
		return err
	}
	f.boot = b
	return nil
}

func (f *fakeMachine) Reset(_ context.Context, kind qemu.ResetType) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fail != nil {
		return f.fail
	}
	f.resets = append(f.resets, kind)
	switch kind {
	case qemu.ResetForceOff, qemu.ResetGracefulShutdown:
		f.power = qemu.Off
		return nil
	case qemu.ResetForceRestart, qemu.ResetNmi:
		if f.power == qemu.Off {
			return qemu.ErrPoweredOff
		}
	default:
	}
	f.power = qemu.On
	if f.boot.Enabled == qemu.Once {
		f.boot.Target, f.boot.Enabled = qemu.TargetNone, qemu.Disabled
	}
	return nil
}

func (f *fakeMachine) InsertMedia(_ context.Context, path string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	content, err := os.ReadFile(path)
	if err == nil && f.fail == nil {
		f.media = string(content)
	}
	return errors.Join(err, f.fail)
}

func (f *fakeMachine) EjectMedia(context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.media = ""
	return f.fail
}

func (f *fakeMachine) pressed() []qemu.ResetType {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.resets)
}

const (
	testUser     = "admin"
	testPassword = "pass word"
)

// clock is a clock the test sets. With a step it goes on by itself, by as much
// with every look: for clients that know no other way than to wait.
type clock struct {
	mu   sync.Mutex
	now  time.Time
	step time.Duration
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(c.step)
	return c.now
}

func (c *clock) goOn(step time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.step = step
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// bench is a controller on loopback with a fake machine behind it.
type bench struct {
	*Server
	machine *fakeMachine
	clock   *clock
	url     string
}

// newController is a controller without a listener.
func newController(t *testing.T, edit ...func(*Config)) *bench {
	t.Helper()
	b := &bench{machine: newFake(), clock: &clock{now: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)}}
	c := Config{
		Machine: b.machine, Username: testUser, Password: testPassword,
		MaxSessions: 2, SessionTimeout: time.Minute, MediaDir: t.TempDir(),
		RAID: RAID{DriveGiB: []int{100, 100, 100, 200}}, TaskTime: time.Second, RestartTime: time.Second,
		Now: b.clock.Now, Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
	}
	for _, change := range edit {
		change(&c)
	}
	b.Server = New(c)
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return b
}

func newBench(t *testing.T, edit ...func(*Config)) *bench {
	t.Helper()
	b := newController(t, edit...)
	server := httptest.NewServer(b.Server)
	b.url = server.URL
	t.Cleanup(func() { // before the controller's own clean-up
		b.end() // lets go what hangs, which server.Close waits for
		server.Close()
	})
	return b
}

// call sends one request with basic authentication, and with header pairs
// that replace or, with an empty value, remove others. It returns the answer
// and its body.
func (b *bench) call(t *testing.T, method, path, body string, header ...string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, b.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.SetBasicAuth(testUser, testPassword)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Del(header[i])
		if header[i+1] != "" {
			r.Header.Set(header[i], header[i+1])
		}
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, string(text)
}
