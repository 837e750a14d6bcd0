package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/ferrite-metal/ferrite/agent/logbook"
	"github.com/ferrite-metal/ferrite/agent/param"
	"github.com/ferrite-metal/ferrite/agent/screen"
	"github.com/ferrite-metal/ferrite/agent/sys"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// smallBMC has one free user, on LAN channel 3, with the address 10.0.0.9 or the test's own.
type smallBMC struct {
	address        []byte
	refuse         byte // a command that it does not take
	name, password string
}

func (b *smallBMC) answer(netfn, command byte, data []byte) ([]byte, error) {
	if command == b.refuse {
		return nil, &sys.IPMIError{NetFn: netfn, Command: command, Code: 0xd4}
	}
	switch [2]byte{netfn, command} {
	case [2]byte{0x06, 0x01}: // Get Device ID
		return make([]byte, 11), nil
	case [2]byte{0x06, 0x42}: // Get Channel Info
		if data[0] == 3 {
			return []byte{3, 4, 1, 0x80}, nil
		}
	case [2]byte{0x0c, 0x02}: // Get LAN Configuration Parameters
		if data[1] == 3 {
			return append([]byte{0x11}, b.address...), nil
		}
	case [2]byte{0x06, 0x44}: // Get User Access
		return []byte{2, 1, 0, 0}, nil
	case [2]byte{0x06, 0x46}: // Get User Name
		return append([]byte(b.name), make([]byte, 16-len(b.name))...), nil
	case [2]byte{0x06, 0x45}: // Set User Name
		b.name = strings.TrimRight(string(data[1:]), "\x00")
		return nil, nil
	case [2]byte{0x06, 0x47}: // Set User Password
		if data[1] == 2 {
			b.password = string(data[2:])
		}
		return nil, nil
	case [2]byte{0x06, 0x43}: // Set User Access
		if data[0]&0x0f != 3 {
			return nil, errors.New("access over another channel")
		}
		return nil, nil
	}
	return nil, &sys.IPMIError{NetFn: netfn, Command: command, Code: 0xc1}
}

// TestBMCUser: an agent that is asked makes a user, hands it in over TLS, and logs no password.
func TestBMCUser(t *testing.T) {
	at := []byte{10, 0, 0, 9}
	for name, tc := range map[string]struct {
		bmc  *smallBMC
		line string // of the kernel; HTTP stands for the conductor without TLS
		want string // part of the error handed in, "" for a user
	}{
		"a BMC":          {bmc: &smallBMC{address: at}},
		"none":           {want: "shows no BMC to its kernel"},
		"no address":     {bmc: &smallBMC{address: make([]byte, 4)}, want: "no LAN channel of the BMC has an IP address"},
		"it refuses":     {bmc: &smallBMC{address: at, refuse: 0x45}, want: "Set User Name: the BMC does not allow"},
		"it is dead":     {bmc: &smallBMC{address: at, refuse: 0x01}, want: "Get Device ID: the BMC does not allow"},
		"any conductor":  {bmc: &smallBMC{address: at}, line: "ipa-insecure=1", want: "certificate is not checked"},
		"another's user": {bmc: &smallBMC{address: at, name: "root"}, want: "has 2 users, and none of them is free"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newConductor(t, false)
			c.request = &agentapi.BMCUserRequest{Name: "ferrite-inband", Token: "the-token-of-this-boot"}
			pin := sha256.Sum256(c.Certificate().Raw)
			line := tc.line
			if line == "" {
				line = "ferrite-api-sha256=" + hex.EncodeToString(pin[:])
			}
			p, problems, err := param.Parse("ipa-inspection-callback-url=" + c.URL + agentapi.ContinueInspectionPath +
				" " + line)
			if err != nil || problems != nil {
				t.Fatal(err, problems)
			}
			m, book := &machine{}, &logbook.Book{}
			if tc.bmc != nil {
				m.bmc = tc.bmc.answer
			}
			a := New(Options{Params: p, Kernel: m, Root: fstest.MapFS{}, Book: book, Board: screen.NewBoard(),
				Log: book.Logger(true, func() time.Duration { return 0 })})
			a.handInBMCUser(t.Context(), nodeUUID, *c.request)
			if len(c.users) != 1 || c.users[0].Token != c.request.Token || !strings.Contains(c.users[0].Error, tc.want) {
				t.Fatalf("handed in: %v, expected %q", c.users, tc.want)
			}
			u, log := c.users[0], string(book.Tail())
			if tc.want == "" && (u.Name != "ferrite-inband" || u.Address != "10.0.0.9" || len(u.Password) < 16 ||
				tc.bmc.name != u.Name || tc.bmc.password != u.Password || u.Error != "") {
				t.Errorf("the user is %q with %q at %s, the BMC has %q", u.Name, u.Password, u.Address, tc.bmc.name)
			}
			if tc.want != "" && tc.bmc != nil && tc.bmc.name == "ferrite-inband" {
				t.Errorf("the BMC has the user %q", tc.bmc.name)
			}
			if strings.Contains(log, c.request.Token) || tc.want == "" && strings.Contains(log, u.Password) {
				t.Errorf("a secret is in the log: %s", log)
			}
		})
	}
}

// TestBMCUserByHTTP: nothing is done to the BMC when its password would travel in clear.
func TestBMCUserByHTTP(t *testing.T) {
	p, problems, err := param.Parse("ipa-inspection-callback-url=http://127.0.0.1:1" + agentapi.ContinueInspectionPath)
	if err != nil || problems != nil {
		t.Fatal(err, problems)
	}
	b, book := &smallBMC{address: []byte{10, 0, 0, 9}}, &logbook.Book{}
	a := New(Options{Params: p, Kernel: &machine{bmc: b.answer}, Root: fstest.MapFS{},
		Log: book.Logger(true, func() time.Duration { return 0 })})
	if u, err := a.makeBMCUser(t.Context(), "n"); err == nil || !strings.Contains(err.Error(), "not called by https") ||
		u.Password != "" || b.name != "" {
		t.Errorf("%v, %v, and the BMC has %q", u, err, b.name)
	}
}

// TestBMCUserAsked: the answer to inspection data asks; a conductor that is busy is called again.
func TestBMCUserAsked(t *testing.T) {
	c := newConductor(t, false)
	c.request, c.refuseUsers = &agentapi.BMCUserRequest{Name: "n", Token: "t"}, 1
	_, _, stop := live(t, c, "ipa-inspection-callback-url="+c.URL+agentapi.ContinueInspectionPath+"?x=1")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for {
		c.mu.Lock()
		n := len(c.users)
		c.mu.Unlock()
		if n == 1 {
			break
		}
		if !sys.Sleep(ctx, 10*time.Millisecond) {
			t.Fatal("no user was handed in")
		}
	}
	_ = stop()
	if !strings.Contains(c.users[0].Error, "shows no BMC") {
		t.Errorf("handed in: %v", c.users)
	}
}
