//go:build e2e

package server_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/pxe"
	"github.com/ferrite-metal/ferrite/pxe/dhcp"
	"github.com/ferrite-metal/ferrite/pxe/pxetest"
	"github.com/ferrite-metal/ferrite/pxe/server"
)

// The environment: inNamespace is set by the test for itself, kernelFile may
// name a kernel to boot; without it Debian's is downloaded.
const (
	inNamespace = "FERRITE_PXE_E2E_NAMESPACE"
	kernelFile  = "FERRITE_PXE_E2E_KERNEL"
)

// inOwnNetwork runs the test again in a new network namespace with a bridge
// and a tap, and answers true inside it.
func inOwnNetwork(t *testing.T) bool {
	t.Helper()
	if os.Getenv(inNamespace) == "" {
		if os.Geteuid() != 0 {
			t.Fatal("this test makes a network namespace: run it as root")
		}
		run := "^" + t.Name() + "$"
		if _, cases, some := strings.Cut(flag.Lookup("test.run").Value.String(), "/"); some {
			run += "/" + cases
		}
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run="+run, "-test.v",
			"-test.timeout="+flag.Lookup("test.timeout").Value.String())
		cmd.Env = append(os.Environ(), inNamespace+"=1", kernelFile+"="+debianKernel(t)) // there is no archive in there
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
		out, err := cmd.CombinedOutput()
		t.Logf("in its own network namespace:\n%s", out)
		if err != nil {
			t.Fatal(err)
		}
		return false
	}
	for _, args := range []string{
		"link set lo up",
		// Without an address of its own a bridge takes a port's, and would change it as ports come and go.
		"link add br0 address 02:00:00:77:00:01 type bridge stp_state 0 forward_delay 0",
		"addr add 10.77.0.1/24 dev br0",
		"link set br0 up",
		"tuntap add tap0 mode tap",
		"link set tap0 master br0 up",
	} {
		if out, err := exec.CommandContext(t.Context(), "ip", strings.Fields(args)...).CombinedOutput(); err != nil {
			t.Fatalf("ip %s: %v: %s", args, err, out)
		}
	}
	return true
}

// debianKernel unpacks the kernel of Debian's linux-image-cloud-amd64.
func debianKernel(t *testing.T) string {
	t.Helper()
	if file := os.Getenv(kernelFile); file != "" {
		return file
	}
	dir := t.TempDir()
	script := `set -e
pkg=$(apt-cache depends linux-image-cloud-amd64 | awk '/Depends: linux-image-/ {print $2; exit}')
apt-get -o APT::Sandbox::User=root download "$pkg" >/dev/null
dpkg -x "$pkg"_*.deb root
ls "$PWD"/root/boot/vmlinuz-*`
	cmd := exec.CommandContext(t.Context(), "sh", "-c", script)
	cmd.Dir = dir
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("get Debian's cloud kernel: %v: %s", err, &complaints)
	}
	return strings.TrimSpace(string(out))
}

// watcher is a Booter that times the stages from a machine's power-on.
type watcher struct {
	pxetest.Booter
	mu     sync.Mutex
	on     time.Time
	log    []string
	seen   map[pxe.Stage]time.Duration
	booted chan struct{}
	onAck  func() // set before power-on
}

func (w *watcher) Reached(ctx context.Context, c pxe.Client, s pxe.Stage) {
	w.Booter.Reached(ctx, c, s)
	if s == pxe.StageAck && w.onAck != nil {
		w.onAck()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	at := time.Since(w.on)
	w.log = append(w.log, fmt.Sprintf("%s/%s=%.2f", c.Firmware, strings.ReplaceAll(string(s), " ", "-"), at.Seconds()))
	if _, again := w.seen[s]; s == pxe.StageRamdisk && !again {
		close(w.booted)
	}
	w.seen[s] = at
}

// times returns when each stage was last seen, and the whole story in one line.
func (w *watcher) times() (map[pxe.Stage]time.Duration, string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.seen), strings.Join(w.log, " ")
}

func (w *watcher) powerOn() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.on, w.log, w.seen, w.booted = time.Now(), nil, map[pxe.Stage]time.Duration{}, make(chan struct{})
}

// serial is a machine's console.
type serial struct {
	mu  sync.Mutex
	all bytes.Buffer
}

func (s *serial) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all.Write(b)
}

func (s *serial) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all.String()
}

// wait waits for text on the console.
func (s *serial) wait(ctx context.Context, text string) error {
	for !strings.Contains(s.String(), text) {
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for %q on the console: %w", text, ctx.Err())
		case <-time.After(20 * time.Millisecond):
		}
	}
	return nil
}

// machine starts a QEMU machine with one NIC on the bridge.
func machine(ctx context.Context, t *testing.T, uefi bool, nic string, more ...string) *serial {
	t.Helper()
	args := []string{"-machine", "q35", "-accel", "tcg,thread=multi", "-cpu", "qemu64,+rdrand", "-smp", "1", "-m", "512",
		"-nodefaults", "-display", "none", "-serial", "stdio", "-no-reboot",
		"-netdev", "tap,id=n0,ifname=tap0,script=no,downscript=no",
		"-device", "virtio-net-pci,netdev=n0,mac=52:54:00:77:00:01,bootindex=1" + nic}
	if uefi {
		vars := filepath.Join(t.TempDir(), "vars.fd") // OVMF writes to it
		b, err := os.ReadFile("/usr/share/OVMF/OVMF_VARS_4M.fd")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(vars, b, 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, "-drive", "if=pflash,format=raw,unit=0,readonly=on,file=/usr/share/OVMF/OVMF_CODE_4M.fd",
			"-drive", "if=pflash,format=raw,unit=1,file="+vars)
	}
	console := &serial{}
	cmd := exec.CommandContext(ctx, "qemu-system-x86_64", append(args, more...)...)
	cmd.Stdout, cmd.Stderr = console, console
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // killed: its exit status says nothing
	})
	return console
}

// biosConsole is the option that makes SeaBIOS, and so iPXE, write to the serial port.
func biosConsole(t *testing.T) []string {
	t.Helper()
	port := filepath.Join(t.TempDir(), "port")
	if err := os.WriteFile(port, []byte{0xf8, 0x03}, 0o600); err != nil {
		t.Fatal(err)
	}
	return []string{"-fw_cfg", "name=etc/sercon-port,file=" + port}
}

// chainUndionly starts undionly.kpxe from our TFTP, as a BIOS with another ROM than iPXE would. QEMU has no such ROM,
// so an iPXE started as a kernel stands in for it.
func chainUndionly(t *testing.T) []string {
	t.Helper()
	script := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(script, []byte("#!ipxe\nifopen net0\ndhcp net0\nchain tftp://10.77.0.1/undionly.kpxe\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	return append(biosConsole(t), "-kernel", "/usr/lib/ipxe/ipxe.lkrn", "-initrd", script)
}

// httpOnly makes OVMF skip PXE, so that HTTP boot comes first.
func httpOnly() []string {
	return []string{"-fw_cfg", "name=opt/org.tianocore/IPv4PXESupport,string=n", "-fw_cfg",
		"name=opt/org.tianocore/IPv6PXESupport,string=n"}
}

// emptyCPIO is a ramdisk with nothing in it.
func emptyCPIO(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "initrd")
	b := []byte("070701" + strings.Repeat("0", 8*4) + "00000001" + strings.Repeat("0", 8*6) + "0000000B" + "00000000" +
		"TRAILER!!!\x00\x00\x00\x00")
	if err := os.WriteFile(file, append(b, make([]byte, 1<<20)...), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func startService(t *testing.T, w *watcher) {
	t.Helper()
	log := io.Writer(io.Discard)
	if testing.Verbose() {
		log = os.Stderr
	}
	s, err := server.Listen(t.Context(), server.Config{
		Interface: "br0",
		Address:   netip.MustParseAddr("10.77.0.1"),
		Subnets: []dhcp.Subnet{{Prefix: netip.MustParsePrefix("10.77.0.0/24"),
			First: netip.MustParseAddr("10.77.0.100"), Last: netip.MustParseAddr("10.77.0.110")}},
		Booter: w, Leases: &pxetest.Leases{},
		Log: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	if err != nil {
		t.Fatal(err)
	}
	pxetest.Serve(t, s.Serve)
}
