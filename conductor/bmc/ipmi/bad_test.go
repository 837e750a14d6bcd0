package ipmi_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bougou/go-ipmi/pkg/bmc"
	"github.com/bougou/go-ipmi/pkg/types"

	"github.com/ferrite-metal/ferrite/conductor/bmc/ipmi"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

func permanent(err error) bool {
	var p interface{ Permanent() bool }
	return errors.As(err, &p) && p.Permanent()
}

// A refused login is a permanent error that names the setting to check and does not contain
// the password.
func TestRefused(t *testing.T) {
	t.Parallel()
	s := newSim(t)
	for _, c := range []struct {
		name     string
		settings []any
		want     string
	}{
		{"password", []any{"ipmi_password", "secret-wrong"},
			`the credentials of user "admin" were refused: correct ipmi_username and ipmi_password`},
		{"no password", []any{"ipmi_password", nil},
			`the credentials of user "admin" were refused: correct ipmi_username and ipmi_password`},
		{"user", []any{"ipmi_username", "nobody"},
			`the credentials of user "nobody" were refused: correct ipmi_username and ipmi_password`},
		{"no user", []any{"ipmi_username", nil}, "the BMC wants credentials: set ipmi_username and ipmi_password"},
		{"cipher suite", []any{"ipmi_cipher_suite", 17},
			"ipmi_cipher_suite is 17, which the BMC does not take (RMCP+ status 0x04: Invalid authentication algorithm)"},
	} {
		d := newDriver(t, ipmi.Options{})
		for range 3 {
			_, err := d.PowerState(t.Context(), s.node(c.settings...))
			if err == nil || !strings.Contains(err.Error(), c.want) || !permanent(err) ||
				strings.Contains(err.Error(), "secret") {
				t.Errorf("%s: got %v\nwant %s, for good", c.name, err, c.want)
			}
		}
	}
	if _, err := newDriver(t, ipmi.Options{}).PowerState(t.Context(), s.node("ipmi_cipher_suite", "3")); err != nil {
		t.Errorf("the suite it takes: %v", err)
	}
}

// Refused credentials are not tried again at once, which might lock the
// account, and cost the neighbour with the right ones nothing.
func TestWrongPassword(t *testing.T) {
	t.Parallel()
	b := newBoard(t)
	d := newDriver(t, ipmi.Options{RefusedFor: time.Second})
	for range 3 {
		if _, err := d.PowerState(t.Context(), b.node()); err != nil {
			t.Fatal(err)
		}
		if _, err := d.PowerState(t.Context(), b.node("ipmi_password", "secret-wrong")); !permanent(err) {
			t.Fatalf("got %v, want a refusal", err)
		}
	}
	if n := b.count(types.CommandSetSessionPrivilegeLevel); n != 1 {
		t.Errorf("%d logins, want one", n)
	}
	b.user(t, func(u *bmc.User) { u.SetPassword([]byte("secret-wrong")) })
	eventually(t, "it is tried again once it became the right one", func() bool {
		_, err := d.PowerState(t.Context(), b.node("ipmi_password", "secret-wrong"))
		return err == nil
	})
}

func TestPrivilegeLevel(t *testing.T) {
	b := newBoard(t)
	b.user(t, func(u *bmc.User) {
		u.ChannelAccess[1] = bmc.UserChannelAccess{MaxPrivilege: bmc.PrivilegeLevelOperator, Enabled: true}
	})
	d := newDriver(t, ipmi.Options{})
	_, err := d.PowerState(t.Context(), b.node())
	if want := `ipmi_priv_level is ADMINISTRATOR, which the BMC does not give user "root"`; err == nil ||
		!strings.Contains(err.Error(), want) || !permanent(err) {
		t.Errorf("got %v, want %s, for good", err, want)
	}
	if _, err := d.PowerState(t.Context(), b.node("ipmi_priv_level", "operator")); err != nil {
		t.Errorf("as what it is: %v", err)
	}
}

// TestCipherSuites: one of the suites that Ferrite knows is enough (ateodorescu/home-assistant-ipmi#22: 17 alone).
func TestCipherSuites(t *testing.T) {
	for _, suites := range [][]types.CipherSuiteID{{17}, {3}, {3, 17}} {
		b := newBoard(t, bmc.WithCipherSuites(suites))
		if _, err := newDriver(t, ipmi.Options{}).PowerState(t.Context(), b.node()); err != nil {
			t.Errorf("%v: %v", suites, err)
		}
	}
}

func TestBMCKey(t *testing.T) {
	b := newBoard(t, bmc.WithKG([]byte("a-key-of-twenty-byte")))
	_, err := newDriver(t, ipmi.Options{}).PowerState(t.Context(), b.node())
	if want := "ipmi_hex_kg_key seems to be needed"; err == nil || !strings.Contains(err.Error(), want) ||
		!permanent(err) {
		t.Errorf("got %v, want %s, for good", err, want)
	}
}

// Nothing is listening: the host says so at once.
func TestUnreachable(t *testing.T) {
	d := newDriver(t, ipmi.Options{})
	_, err := d.PowerState(t.Context(), nodeAt(1, "u", "secret"))
	if want := "ipmi 127.0.0.1:1: read the power state: RMCP+ Open Session: "; err == nil ||
		!strings.HasPrefix(err.Error(), want) || !strings.Contains(err.Error(), "connection refused") || permanent(err) {
		t.Errorf("got %v, want %s", err, want)
	}
	_, err = d.PowerState(t.Context(), nodeAt(1, "u", "secret", "ipmi_address", "no-such-host.invalid"))
	if err == nil || !strings.Contains(err.Error(), "no-such-host.invalid") || permanent(err) {
		t.Errorf("got %v, want the host named", err)
	}
}

// A BMC that stops answering in the middle of a session costs a bounded time,
// is let alone then, and works when it is well.
func TestStopped(t *testing.T) {
	t.Parallel()
	s := newSim(t)
	strict := newDriver(t, ipmi.Options{RequestTimeout: 250 * time.Millisecond, BackOff: time.Hour, MaxBackOff: time.Hour})
	eager := newDriver(t,
		ipmi.Options{RequestTimeout: 250 * time.Millisecond, BackOff: time.Nanosecond, MaxBackOff: time.Nanosecond})
	for _, d := range []*ipmi.Driver{strict, eager} {
		eventually(t, "it is logged in", func() bool {
			_, err := d.PowerState(t.Context(), s.node())
			return err == nil
		})
	}
	s.Signal(t, syscall.SIGSTOP)
	for _, d := range []*ipmi.Driver{strict, eager} {
		_, err := d.PowerState(t.Context(), s.node())
		if want := "the BMC did not answer RMCP+ Open Session within "; err == nil || !strings.Contains(err.Error(), want) ||
			permanent(err) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	_, err := strict.PowerState(t.Context(), s.node())
	if want := "not asked for another "; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
	s.Signal(t, syscall.SIGCONT)
	eventually(t, "it works when it is well", func() bool {
		_, err := eager.PowerState(t.Context(), s.node())
		return err == nil
	})
}

// A call ends by its context when the BMC does not answer.
func TestDeadline(t *testing.T) {
	t.Parallel()
	s := newSim(t)
	d := newDriver(t, ipmi.Options{RequestTimeout: time.Minute, BackOff: time.Nanosecond, MaxBackOff: time.Nanosecond})
	for _, state := range []string{"before the session", "in the session"} {
		s.Signal(t, syscall.SIGSTOP)
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		start := time.Now()
		_, err := d.PowerState(ctx, s.node())
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) > 20*time.Second {
			t.Errorf("%s: got %v after %s", state, err, time.Since(start))
		}
		ctx, cancel = context.WithCancel(t.Context())
		time.AfterFunc(10*time.Millisecond, cancel)
		if _, err := d.PowerState(ctx, s.node()); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: got %v", state, err)
		}
		s.Signal(t, syscall.SIGCONT)
		if _, err := d.PowerState(t.Context(), s.node()); err != nil {
			t.Errorf("%s: after it: %v", state, err)
		}
	}
}

// A BMC that was started anew has forgotten its sessions and does not say so.
func TestRestarted(t *testing.T) {
	t.Parallel()
	s := newSim(t)
	d := newDriver(t, ipmi.Options{})
	for range 2 {
		if err := d.SetPower(t.Context(), s.node(), node.Rebooting); err != nil {
			t.Fatal(err)
		}
		s.Stop()
		s.Restart(t)
	}
}

// All sessions of the BMC are in use: that passes, and is not the operator's
// fault.
func TestNoSessionFree(t *testing.T) {
	b := newBoard(t)
	for range bmc.MaxSessions {
		if _, err := newDriver(t, ipmi.Options{}).PowerState(t.Context(), b.node()); err != nil {
			t.Fatal(err)
		}
	}
	_, err := newDriver(t, ipmi.Options{}).PowerState(t.Context(), b.node())
	if want := "Insufficient resources to create a session"; err == nil || !strings.Contains(err.Error(), want) ||
		permanent(err) {
		t.Errorf("got %v, want %s, for now", err, want)
	}
}

// Completion codes of a BMC become words.
func TestFailures(t *testing.T) {
	for _, c := range []struct {
		name   string
		answer []byte
		code   types.CompletionCode
		want   string
	}{
		{"busy", nil, types.CodeNodeBusy, "read the power state: the BMC answered Get Chassis Status with 0xc0: "},
		{"not allowed", nil, types.CodeInsufficientPrivilege, "with 0xd4: "},
		{"short", []byte{1}, types.CodeOK, "read the power state: the BMC's answer to Get Chassis Status cannot be read: "},
	} {
		b := newBoard(t)
		d := newDriver(t, ipmi.Options{BackOff: time.Nanosecond})
		b.set(func() {
			b.hook = func(cmd types.Command, _ []byte) ([]byte, types.CompletionCode, bool) {
				return c.answer, c.code, cmd == types.CommandGetChassisStatus
			}
		})
		_, err := d.PowerState(t.Context(), b.node())
		if err == nil || !strings.Contains(err.Error(), c.want) ||
			!strings.HasPrefix(err.Error(), fmt.Sprintf("ipmi 127.0.0.1:%d: ", b.port)) || permanent(err) {
			t.Errorf("%s: got %v, want %s", c.name, err, c.want)
		}
		b.set(func() { b.hook = nil })
		if _, err := d.PowerState(t.Context(), b.node()); err != nil {
			t.Errorf("%s: after it got well: %v", c.name, err)
		}
	}
}

// stranger answers every packet with the test's answer to it.
func stranger(t *testing.T, answer func(req []byte) [][]byte) (port int) {
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	go func() {
		buf := make([]byte, 4096)
		for {
			n, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			for _, a := range answer(buf[:n]) {
				_, _ = conn.WriteTo(a, from)
			}
		}
	}()
	return conn.LocalAddr().(*net.UDPAddr).Port
}

// Garbage is not an answer, and does not keep a call from ending.
func TestGarbage(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		name   string
		answer func(req []byte) [][]byte
	}{
		{"noise", func([]byte) [][]byte {
			var all [][]byte
			for range 50 {
				p := make([]byte, random.IntN(100))
				for i := range p {
					p[i] = byte(random.Uint32())
				}
				all = append(all, p)
			}
			return all
		}},
		{"an echo", func(req []byte) [][]byte { return [][]byte{req} }},
		{"nothing in it", func([]byte) [][]byte { return [][]byte{{}} }},
		{"encrypted before there is a key", func([]byte) [][]byte {
			return [][]byte{append([]byte{6, 0, 0xff, 7, 6, 0xc0, 0xa3, 0xa2, 0xa1, 0xa0, 1, 0, 0, 0, 3, 0, 1, 2, 3},
				make([]byte, 40)...)}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := newDriver(t, ipmi.Options{RequestTimeout: 300 * time.Millisecond})
			_, err := d.PowerState(t.Context(), nodeAt(stranger(t, c.answer), "u", "secret"))
			if want := "datagrams came that are no answer"; err == nil || !strings.Contains(err.Error(), want) ||
				permanent(err) {
				t.Errorf("got %v, want %s", err, want)
			}
		})
	}
}

// An inventory that is never read to its end ends the command, not the memory.
func TestEndlessInventory(t *testing.T) {
	b := newBoard(t)
	endless := func(c types.Command, req []byte) ([]byte, types.CompletionCode, bool) {
		switch {
		case c.Name == types.CommandGetFRUInventoryAreaInfo.Name:
			return []byte{0xff, 0xff, 0}, types.CodeOK, true
		case c.Name == types.CommandReadFRUData.Name && req[1] == 0 && req[2] == 0:
			return []byte{8, 1, 0, 1, 1, 1, 0, 0, 0xfc}, types.CodeOK, true // the header: all areas at byte 8
		case c.Name == types.CommandReadFRUData.Name && req[3] == 2:
			return []byte{2, 1, 255}, types.CodeOK, true // an area of 2040 bytes
		case c.Name == types.CommandReadFRUData.Name:
			return []byte{0}, types.CodeOK, true // there is more
		}
		return nil, 0, false
	}
	b.set(func() { b.hook = endless })
	_, err := newDriver(t, ipmi.Options{RequestTimeout: 10 * time.Second}).System(t.Context(), b.node())
	if err == nil || !strings.Contains(err.Error(), "more than 2000 datagrams") {
		t.Errorf("got %v after %d reads", err, b.count(types.CommandReadFRUData))
	}
}
