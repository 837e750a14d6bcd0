package ipmi_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// sim is a BMC: OpenIPMI's ipmi_sim, a process of its own on loopback. Its
// chassis is a shell script that keeps power and boot device in files.
type sim struct {
	dir    string
	port   int
	serial string // line of lan.conf for serial over LAN, "" for none
	extra  string // further lines of the machine
	cmd    *exec.Cmd
}

const (
	simUser     = "admin"
	simPassword = "secret-of-the-sim"
)

const simConfig = `name "ferrite"
set_working_mc 0x20
  startlan 1
    addr 127.0.0.1 %[1]d
    priv_limit admin
    allowed_auths_callback md5
    allowed_auths_user md5
    allowed_auths_operator md5
    allowed_auths_admin md5
    guid 33221100554477668899aabbccddeeff
  endlan
  chassis_control "%[2]s"
  user 2 true "admin" "%[3]s" admin 10 md5
%[4]s
`

const simMachine = `mc_setbmc 0x20
mc_add 0x20 0 no-device-sdrs 0x23 9 8 0x9f 0x1291 0xf02
mc_enable 0x20
`

// The simulator calls it as "get <name>..." and "set <name> <value>...".
const simChassis = `#!/bin/sh
cd '%s' || exit 1
op=$1
shift
if [ "$op" = get ]; then
	for name; do echo "$name:$(cat "$name")"; done
	exit
fi
while [ $# -gt 0 ]; do
	echo "$1 $2" >> pressed
	case $1 in
	power | boot) echo "$2" > "$1" ;;
	shutdown) echo 0 > power ;;
	esac
	shift 2
done
`

// newSim starts a BMC whose machine is off.
func newSim(t *testing.T) *sim { return newSimWith(t, "") }

// newSimWith adds a line to the BMC's configuration.
func newSimWith(t *testing.T, serial string) *sim {
	t.Helper()
	return startSim(t, &sim{serial: serial})
}

// startSim starts a BMC as it is filled in.
func startSim(t *testing.T, s *sim) *sim {
	t.Helper()
	s.dir = t.TempDir()
	probe, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.port = probe.LocalAddr().(*net.UDPAddr).Port
	probe.Close()
	for name, content := range map[string]string{
		"lan.conf": fmt.Sprintf(simConfig, s.port, s.path("chassis"), simPassword, s.serial),
		"sim.emu":  simMachine + s.extra, "chassis": fmt.Sprintf(simChassis, s.dir), "power": "0", "boot": "none",
		"pressed": "",
	} {
		if err := os.WriteFile(s.path(name), []byte(content), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(s.path("state"), 0o700); err != nil {
		t.Fatal(err)
	}
	s.start(t)
	t.Cleanup(s.stop)
	return s
}

func (s *sim) path(name string) string { return filepath.Join(s.dir, name) }

// read is what the chassis has in a file.
func (s *sim) read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(s.path(name))
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(b))
}

// start runs the simulator and waits until it answers a presence ping (ASF
// 2.0, 3.2.4).
func (s *sim) start(t *testing.T) {
	t.Helper()
	s.cmd = exec.Command("ipmi_sim", "-n", "-c", s.path("lan.conf"), "-f", s.path("sim.emu"), "-s", s.path("state"))
	if err := s.cmd.Start(); err != nil {
		t.Fatalf("%v (Debian package openipmi is needed)", err)
	}
	conn, err := net.Dial("udp", fmt.Sprintf("127.0.0.1:%d", s.port))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	eventually(t, "the simulator answers", func() bool {
		_, _ = conn.Write([]byte{6, 0, 0xff, 6, 0, 0, 0x11, 0xbe, 0x80, 1, 0, 0})
		_ = conn.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
		_, err := conn.Read(make([]byte, 64))
		return err == nil
	})
}

func (s *sim) stop() {
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
}

func (s *sim) signal(t *testing.T, sig syscall.Signal) {
	t.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
}

// node is a node of this BMC, with settings by key and value.
func (s *sim) node(settings ...any) node.Node {
	return nodeAt(s.port, simUser, simPassword, settings...)
}

func nodeAt(port int, user, password string, settings ...any) node.Node {
	info := map[string]any{
		"ipmi_address": "127.0.0.1", "ipmi_port": port, "ipmi_username": user, "ipmi_password": password,
	}
	for i := 0; i < len(settings); i += 2 {
		info[settings[i].(string)] = settings[i+1]
	}
	return node.Node{UUID: "4e6ab7a7-7a37-4d5c-8f3d-6f0c5a1f9d11", DriverInfo: info}
}

// ipmitool asks the BMC with the program Ironic uses.
func (s *sim) ipmitool(t *testing.T, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "ipmitool", append([]string{
		"-I", "lanplus", "-C", "3", "-H", "127.0.0.1", "-p", fmt.Sprint(s.port), "-U", simUser, "-E",
	}, args...)...)
	cmd.Env = append(os.Environ(), "IPMI_PASSWORD="+simPassword)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("ipmitool %v: %v (Debian package ipmitool is needed):\n%s", args, err, out)
	}
	return string(out)
}
