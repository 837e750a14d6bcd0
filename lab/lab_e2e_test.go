//go:build e2e

package lab

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/lab/network"
	"github.com/ferrite-metal/ferrite/lab/qemu"
	"github.com/ferrite-metal/ferrite/lab/qemu/qemutest"
	"github.com/google/go-cmp/cmp"
	"github.com/stmcginnis/gofish"
	"github.com/stmcginnis/gofish/schemas"
	"golang.org/x/crypto/ssh"
)

// helperDir makes the test binary a lab of its own: see TestMain.
const helperDir = "FERRITE_LAB_TEST_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(helperDir); dir != "" {
		if err := helper(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// helper runs a lab with one machine on, until it is asked to end.
func helper(dir string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	l, err := New(ctx, Config{Dir: dir, Log: quiet(), Machines: []MachineConfig{{Spec: biosSpec("node-0")}}})
	if err != nil {
		return err
	}
	if _, err := l.Start("sleeper", exec.Command("sleep", "600")); err != nil {
		return errors.Join(err, l.Close())
	}
	if err := l.Machine("node-0").Reset(ctx, qemu.ResetOn); err != nil {
		return errors.Join(err, l.Close())
	}
	fmt.Println("up")
	<-ctx.Done()
	return l.Close()
}

func biosSpec(name string) qemu.Spec {
	return qemu.Spec{Name: name, Firmware: qemu.BIOS, Disks: []qemu.Disk{{SizeMB: 16}},
		NICs: []qemu.NIC{{OptionROM: true}}}
}

func newLab(t *testing.T, machines ...qemu.Spec) *Lab {
	t.Helper()
	c := Config{Dir: t.TempDir(), Log: slog.New(slog.NewTextHandler(t.Output(), nil))}
	for _, m := range machines {
		c.Machines = append(c.Machines, MachineConfig{Spec: m})
	}
	start := time.Now()
	l, err := New(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("up in %s", time.Since(start))
	t.Cleanup(func() {
		start := time.Now()
		for range 2 {
			if err := l.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
		}
		t.Logf("down in %s", time.Since(start))
		assertNothingLeft(t, l.ID, c.Dir)
	})
	return l
}

func assertNothingLeft(t *testing.T, id, dir string) {
	t.Helper()
	left, err := network.Sweep(id)
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if diff := cmp.Diff([]string{consoleDir, imagesDir, logsDir}, names); diff != "" {
		t.Errorf("the lab's folder (-want +got):\n%s", diff)
	}
}

// system connects to a machine's controller from inside the lab.
func system(t *testing.T, l *Lab, m *Machine) *schemas.ComputerSystem {
	t.Helper()
	client, err := gofish.ConnectContext(t.Context(),
		gofish.ClientConfig{Endpoint: m.URL, Username: m.Username, Password: m.Password, HTTPClient: l.HTTPClient()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Logout)
	systems, err := client.Service.Systems()
	if err != nil || len(systems) != 1 {
		t.Fatalf("%d systems, %v", len(systems), err)
	}
	return systems[0]
}

// again reads the system anew, with its ETag.
func again(t *testing.T, s *schemas.ComputerSystem) *schemas.ComputerSystem {
	t.Helper()
	fresh, err := schemas.GetComputerSystem(s.GetClient(), s.ODataID)
	if err != nil {
		t.Fatal(err)
	}
	return fresh
}

func press(t *testing.T, s *schemas.ComputerSystem, kind schemas.ResetType, want schemas.PowerState) {
	t.Helper()
	start := time.Now()
	if _, err := s.Reset(kind); err != nil {
		t.Fatalf("%s: %v", kind, err)
	}
	t.Logf("%s took %s", kind, time.Since(start))
	if got := again(t, s).PowerState; got != want {
		t.Errorf("power after %s: %s, expected %s", kind, got, want)
	}
}

func waitLine(t *testing.T, m *Machine, start int, pattern string) qemu.Line {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
	defer cancel()
	re := regexp.MustCompile(pattern)
	line, err := m.WaitLine(ctx, func(l qemu.Line) bool { return l.Start == start && re.MatchString(l.Text) })
	if err != nil {
		t.Fatalf("%s: %v", pattern, err)
	}
	t.Logf("%7.3f s start %d: %s", line.After.Seconds(), line.Start, line.Text)
	return line
}

// guest writes a boot sector on a machine's first disk.
func guest(t *testing.T, m *Machine, act qemutest.Act) {
	t.Helper()
	sector, err := qemutest.BootSector("guest on the disk", act)
	if err != nil {
		t.Fatal(err)
	}
	disk, err := os.OpenFile(m.Spec().Disks[0].Path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := disk.Write(sector); err != nil {
		t.Fatal(err)
	}
	if err := disk.Close(); err != nil {
		t.Fatal(err)
	}
}

func pxeOnce() *schemas.Boot {
	return &schemas.Boot{
		BootSourceOverrideTarget: schemas.PxeBootSource, BootSourceOverrideEnabled: schemas.OnceBootSourceOverrideEnabled,
	}
}

func TestE2EBIOSMachineThroughRedfish(t *testing.T) {
	l := newLab(t, biosSpec("node-0"))
	m := l.Machine("node-0")
	guest(t, m, qemutest.WaitButton())
	s := system(t, l, m)
	seen := sshConsole(t, l, m, *s.SerialConsole.SSH.Port)
	press(t, s, schemas.OnResetType, schemas.OnPowerState)
	waitLine(t, m, 1, "guest on the disk")
	seen("guest on the disk")
	press(t, s, schemas.ForceOffResetType, schemas.OffPowerState)

	if err := again(t, s).SetBoot(pxeOnce()); err != nil {
		t.Fatal(err)
	}
	press(t, s, schemas.OnResetType, schemas.OnPowerState)
	waitLine(t, m, 2, "iPXE .* Open Source Network Boot Firmware")
	if got := again(t, s).Boot.BootSourceOverrideEnabled; got != schemas.DisabledBootSourceOverrideEnabled {
		t.Errorf("override for once after its start: %s", got)
	}
	press(t, s, schemas.ForceRestartResetType, schemas.OnPowerState)
	waitLine(t, m, 3, "guest on the disk")
	for _, line := range m.Console() {
		if line.Start == 3 && strings.Contains(line.Text, "Network Boot Firmware") {
			t.Errorf("third start went to the network: %q", line.Text)
		}
		if line.Start == 2 && strings.Contains(line.Text, "guest on the disk") {
			t.Errorf("second start went to the disk")
		}
	}
	press(t, s, schemas.GracefulRestartResetType, schemas.OnPowerState)
	waitLine(t, m, 4, "guest on the disk")
	if _, err := s.Reset(schemas.GracefulShutdownResetType); err != nil {
		t.Fatal(err)
	}
	for range 200 {
		if m.Power() == qemu.Off {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	if got := again(t, s).PowerState; got != schemas.OffPowerState {
		t.Errorf("power after a graceful shutdown: %s", got)
	}
}

// sshConsole reads the machine's console at its controller's SSH server, as the documents name it; seen waits for a
// text.
func sshConsole(t *testing.T, l *Lab, m *Machine, port uint) (seen func(text string)) {
	t.Helper()
	address := fmt.Sprintf("%s:%d", l.Network.Gateway, port)
	conn, err := l.Network.Dial(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	c, channels, requests, err := ssh.NewClientConn(conn, address, &ssh.ClientConfig{User: m.Username,
		Auth: []ssh.AuthMethod{ssh.Password(m.Password)}, HostKeyCallback: ssh.InsecureIgnoreHostKey()})
	if err != nil {
		t.Fatal(err)
	}
	client := ssh.NewClient(c, channels, requests)
	t.Cleanup(func() { client.Close() })
	session, err := client.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	output, err := session.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := session.StdinPipe(); err != nil { // without one it ends
		t.Fatal(err)
	}
	if err := session.Shell(); err != nil {
		t.Fatal(err)
	}
	return func(text string) {
		t.Helper()
		got, buf := "", make([]byte, 4096)
		for !strings.Contains(got, text) {
			n, err := output.Read(buf)
			if got += string(buf[:n]); err != nil {
				t.Fatalf("no %q by SSH: %v\n%s", text, err, got)
			}
		}
	}
}

func TestE2EUEFIMachineWithEmptyDisk(t *testing.T) {
	l := newLab(t, qemu.Spec{Name: "node-0", Disks: []qemu.Disk{{SizeMB: 64}}, NICs: []qemu.NIC{{}}})
	m := l.Machine("node-0")
	s := system(t, l, m)
	const either = "failed to load Boot.*Misc Device|Start PXE over IPv4"
	if err := s.SetBoot(pxeOnce()); err != nil {
		t.Fatal(err)
	}
	press(t, s, schemas.OnResetType, schemas.OnPowerState)
	if line := waitLine(t, m, 1, either); !strings.Contains(line.Text, "PXE") {
		t.Errorf("with the override, first of all: %q", line.Text)
	}
	press(t, s, schemas.ForceOffResetType, schemas.OffPowerState)
	press(t, s, schemas.OnResetType, schemas.OnPowerState)
	if line := waitLine(t, m, 2, either); strings.Contains(line.Text, "PXE") {
		t.Errorf("without the override, first of all: %q", line.Text)
	}
	waitLine(t, m, 2, "Start PXE over IPv4")
	starts, last := m.Starts()
	if diff := cmp.Diff(qemu.Start{Firmware: qemu.UEFI, Order: []string{"disk0", "nic0"}}, last); diff != "" ||
		starts != 2 {
		t.Errorf("%d starts, the last (-want +got):\n%s", starts, diff)
	}
	press(t, s, schemas.ForceOffResetType, schemas.OffPowerState)
}

func TestE2EVirtualMediaThroughRedfish(t *testing.T) {
	l := newLab(t, biosSpec("node-0"))
	m := l.Machine("node-0")
	guest(t, m, qemutest.Halt())
	sector, err := qemutest.BootSector("guest on the cd", qemutest.Halt())
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "boot.bin"), sector, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("xorriso", "-as", "mkisofs", "-quiet", "-b", "boot.bin", "-no-emul-boot",
		"-boot-load-size", "1",
		"-o", filepath.Join(l.config.ImagesDir, "cd.iso"), dir).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	s := system(t, l, m)
	managers, err := s.ManagedBy()
	if err != nil {
		t.Fatal(err)
	}
	media, err := managers[0].VirtualMedia()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := media[0].InsertMedia(&schemas.VirtualMediaInsertMediaParameters{Image: l.ImagesURL +
		"/cd.iso"}); err != nil {
		t.Fatal(err)
	}
	if err := s.SetBoot(&schemas.Boot{BootSourceOverrideTarget: schemas.CdBootSource,
		BootSourceOverrideEnabled: schemas.OnceBootSourceOverrideEnabled}); err != nil {
		t.Fatal(err)
	}
	press(t, s, schemas.OnResetType, schemas.OnPowerState)
	waitLine(t, m, 1, "guest on the cd")
	if _, err := media[0].EjectMedia(); err != nil {
		t.Error(err)
	}
	press(t, s, schemas.ForceRestartResetType, schemas.OnPowerState)
	waitLine(t, m, 2, "guest on the disk")
	// The lab asks for the image's size; the drive then reads the parts that the machine wants.
	if got := l.Images.Counts()["cd.iso"].Requests; got < 2 {
		t.Errorf("image requested %d times, want the size and a part at least", got)
	}
}
