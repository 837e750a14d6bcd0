// Package ipmitest runs OpenIPMI's ipmi_sim as the BMC of a test, on loopback.
package ipmitest

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// User and Password log in to every simulator, as an administrator.
const (
	User     = "admin"
	Password = "secret-of-the-sim"
)

const lan = `name "ferrite"
set_working_mc 0x20
  startlan 1
    addr 127.0.0.1 %d
    priv_limit admin
    allowed_auths_callback md5
    allowed_auths_user md5
    allowed_auths_operator md5
    allowed_auths_admin md5
    guid 33221100554477668899aabbccddeeff
  endlan
  user 2 true "` + User + `" "` + Password + `" admin 10 md5
%s
`

const machine = `mc_setbmc 0x20
mc_add 0x20 0 no-device-sdrs 0x23 9 8 0x9f 0x1291 0xf02
mc_enable 0x20
`

// Sim is a simulator. It ends with the test.
type Sim struct {
	Port int // of IPMI, UDP

	dir string
	cmd *exec.Cmd
}

// Start starts a simulator with further lines of its two files, ipmi_lan(5) and ipmi_sim_cmd(5), and waits until it
// answers.
func Start(t testing.TB, lanLines, machineLines string) *Sim {
	t.Helper()
	s := &Sim{dir: t.TempDir()}
	free, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.Port = free.LocalAddr().(*net.UDPAddr).Port
	if err := free.Close(); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"lan.conf": fmt.Sprintf(lan, s.Port, lanLines), "sim.emu": machine + machineLines,
	} {
		if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s.Restart(t)
	t.Cleanup(s.Stop)
	return s
}

// Restart starts the simulator again after Stop: with its users, and without its sessions.
func (s *Sim) Restart(t testing.TB) {
	t.Helper()
	s.cmd = exec.Command("ipmi_sim", "-n", "-c", filepath.Join(s.dir, "lan.conf"), "-f", filepath.Join(s.dir, "sim.emu"),
		"-s", s.dir)
	if err := s.cmd.Start(); err != nil {
		t.Fatalf("%v (Debian package openipmi is needed)", err)
	}
	conn, err := net.Dial("udp", fmt.Sprintf("127.0.0.1:%d", s.Port))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	ping := []byte{6, 0, 0xff, 6, 0, 0, 0x11, 0xbe, 0x80, 1, 0, 0} // presence ping: ASF 2.0, 3.2.4
	for end := time.Now().Add(time.Minute); time.Now().Before(end); {
		_, _ = conn.Write(ping)
		_ = conn.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
		if _, err := conn.Read(make([]byte, 64)); err == nil {
			return
		}
		time.Sleep(5 * time.Millisecond) // a port that is closed refuses at once
	}
	t.Fatal("ipmi_sim does not answer within a minute")
}

// Stop kills the simulator.
func (s *Sim) Stop() {
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
}

// Signal sends a signal to the simulator.
func (s *Sim) Signal(t testing.TB, sig syscall.Signal) {
	t.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
}
