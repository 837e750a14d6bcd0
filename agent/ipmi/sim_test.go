package ipmi

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/agent/sys"
	"github.com/ferrite-metal/ferrite/lab/ipmitest"
)

// Bytes of the protocol by which QEMU's ipmi-bmc-extern speaks to OpenIPMI's ipmi_sim.
const (
	vmMessageEnd = 0xa0
	vmCommandEnd = 0xa1
	vmEscape     = 0xaa
)

// vmBus is the machine's side of that protocol: one message at a time.
type vmBus struct {
	conn net.Conn
	in   *bufio.Reader
	seq  byte
}

func (b *vmBus) IPMI(netfn, command byte, data []byte, timeout time.Duration) ([]byte, error) {
	b.seq++
	message := append([]byte{b.seq, netfn << 2, command}, data...)
	sum := byte(0)
	for _, c := range message {
		sum -= c
	}
	var wire []byte
	for _, c := range append(message, sum) {
		if c == vmMessageEnd || c == vmCommandEnd || c == vmEscape {
			wire = append(wire, vmEscape, c|0x10)
			continue
		}
		wire = append(wire, c)
	}
	if err := b.conn.SetDeadline(time.Now().Add(timeout)); err != nil {
		return nil, err
	}
	if _, err := b.conn.Write(append(wire, vmMessageEnd)); err != nil {
		return nil, err
	}
	for {
		answer, end, err := b.read()
		if err != nil {
			return nil, err
		}
		if end != vmMessageEnd || len(answer) < 5 || answer[0] != b.seq {
			continue // a wish for power, or for an interrupt
		}
		if answer[3] != 0 {
			return nil, &sys.IPMIError{NetFn: netfn, Command: command, Code: answer[3]}
		}
		return answer[4 : len(answer)-1], nil
	}
}

func (b *vmBus) read() (message []byte, end byte, err error) {
	for escaped := false; ; {
		c, err := b.in.ReadByte()
		switch {
		case err != nil:
			return nil, 0, err
		case c == vmMessageEnd || c == vmCommandEnd:
			return message, c, nil
		case c == vmEscape:
			escaped = true
		case escaped:
			message, escaped = append(message, c&^0x10), false
		default:
			message = append(message, c)
		}
	}
}

// startSim starts ipmi_sim, and returns the machine's way to it and the UDP port of its LAN.
func startSim(t *testing.T) (bus *vmBus, lan int) {
	t.Helper()
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	machine := tcp.Addr().(*net.TCPAddr).Port
	tcp.Close()
	lan = ipmitest.Start(t, fmt.Sprintf("  serial kcs 127.0.0.1 %d codec VM", machine), "").Port
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", machine))
		if err == nil {
			t.Cleanup(func() { conn.Close() })
			return &vmBus{conn: conn, in: bufio.NewReader(conn)}, lan
		}
	}
	t.Fatal("ipmi_sim does not listen for its machine")
	return nil, 0
}

// TestSim: a user made from inside a machine logs in over the LAN; made again, it keeps its slot and has the new
// password alone.
func TestSim(t *testing.T) {
	bus, lan := startSim(t)
	login := func(name, password string) error {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, "ipmitool", "-I", "lanplus", "-C", "3", "-N", "1", "-R", "2", "-H", "127.0.0.1", "-p",
			fmt.Sprint(lan), "-U", name, "-E", "-L", "ADMINISTRATOR", "chassis", "status")
		cmd.Env = append(os.Environ(), "IPMI_PASSWORD="+password)
		out, err := cmd.CombinedOutput()
		if errors.Is(err, exec.ErrNotFound) {
			t.Fatalf("%v (Debian package ipmitool is needed)", err)
		}
		if err == nil && !strings.Contains(string(out), "System Power") {
			err = fmt.Errorf("ipmitool: %s", out)
		}
		return err
	}
	before := ""
	for range 2 {
		password, err := Password(rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		made, err := Make(t.Context(), bus, User{Channel: 1, Name: "ferrite-inband", Password: password}, mustGo)
		if err != nil || made.Slot != 3 {
			t.Fatalf("%+v, %v", made, err)
		}
		if err := login("ferrite-inband", password); err != nil {
			t.Errorf("the new user does not log in: %v", err)
		}
		if before != "" && login("ferrite-inband", before) == nil {
			t.Error("the password of before still logs in")
		}
		before = password
	}
	if err := login("admin", "secret-of-the-sim"); err != nil {
		t.Errorf("the user that was there does not log in any more: %v", err)
	}
}
