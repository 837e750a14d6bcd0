package ipmi

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/agent/sys"
)

var update = flag.Bool("update", false, "write the golden files")

// fakeUser is a user of fakeBMC.
type fakeUser struct {
	name, password string
	access         byte
	enabled, sol   bool
}

// fakeBMC keeps users as a BMC does, and records the commands.
type fakeBMC struct {
	slots byte
	fixed byte
	users map[byte]*fakeUser
	// refuse answers a completion code to a command, 0 for none; times is how often the command came before.
	refuse func(command byte, data []byte, times int) byte
	asked  map[byte]int
	log    strings.Builder
}

func newFakeBMC(slots byte, names ...string) *fakeBMC {
	b := &fakeBMC{slots: slots, users: map[byte]*fakeUser{}, asked: map[byte]int{}}
	for i := byte(1); i <= slots; i++ {
		b.users[i] = &fakeUser{}
		if int(i) <= len(names) {
			b.users[i].name = names[i-1]
		}
	}
	return b
}

func (b *fakeBMC) IPMI(netfn, command byte, data []byte, _ time.Duration) ([]byte, error) {
	answer, code := b.answer(command, data)
	if b.refuse != nil {
		if c := b.refuse(command, data, b.asked[command]); c != 0 {
			answer, code = nil, c
		}
	}
	b.asked[command]++
	line := fmt.Sprintf("%-24s % x -> %02x % x", commandNames[command], data, code, answer)
	b.log.WriteString(strings.TrimRight(line, " ") + "\n")
	if code != 0 {
		return nil, &sys.IPMIError{NetFn: netfn, Command: command, Code: code}
	}
	return answer, nil
}

// answer changes nothing when the test refuses the command.
func (b *fakeBMC) answer(command byte, data []byte) (answer []byte, code byte) {
	if b.refuse != nil && b.refuse(command, data, b.asked[command]) != 0 {
		return nil, 0
	}
	slot := data[0]
	switch command {
	case getUserAccess, setUserAccess, getUserPayloadAccess, setUserPayloadAccess:
		slot = data[1]
	}
	u := b.users[slot&slotMask]
	if u == nil {
		return nil, codeInvalidField
	}
	switch command {
	case getUserAccess:
		return []byte{b.slots, 1, b.fixed, u.access}, 0
	case getUserName:
		return padded(u.name, nameLength), 0
	case setUserName:
		u.name = string(bytes.TrimRight(data[1:], "\x00"))
	case setUserAccess:
		u.access = data[2] | data[0]&(messagingBit|linkBit)
	case getUserPayloadAccess:
		if u.sol {
			return []byte{solPayload, 0, 0, 0}, 0
		}
		return []byte{0, 0, 0, 0}, 0
	case setUserPayloadAccess:
		u.sol = data[2]&solPayload != 0
	case setUserPassword:
		switch data[1] {
		case disableUser, enableUser:
			u.enabled = data[1] == enableUser
		case setPassword:
			u.password = string(data[2:])
		case testPassword:
			if u.password != string(data[2:]) {
				return nil, codeMismatch
			}
		}
	}
	return nil, 0
}

const testPasswordText = "Abcdef-123456789"

func mustGo(context.Context, time.Duration) bool { return true }

// TestMake: which slot is taken, and the commands, byte by byte.
func TestMake(t *testing.T) {
	only := func(command, operation, code byte) func(byte, []byte, int) byte {
		return func(c byte, data []byte, _ int) byte {
			if c == command && (c != setUserPassword || data[1] == operation) {
				return code
			}
			return 0
		}
	}
	for name, tc := range map[string]struct {
		bmc      *fakeBMC
		change   func(*fakeBMC)
		slot     byte
		want     string // part of the error, "" for none
		password string // "" for testPasswordText
	}{
		"first-free":   {bmc: newFakeBMC(4, "", "admin"), slot: 3},
		"again":        {bmc: newFakeBMC(4, "", "admin", "", "ferrite-inband"), slot: 4},
		"full":         {bmc: newFakeBMC(3, "", "admin", "other"), want: "has 3 users, and none of them is free"},
		"one-user":     {bmc: newFakeBMC(1, ""), want: "none of them is free"},
		"nameless-one": {bmc: newFakeBMC(3), change: func(b *fakeBMC) { b.users[2].access = messagingBit | 3 }, slot: 3},
		"fixed-names":  {bmc: newFakeBMC(4), change: func(b *fakeBMC) { b.fixed = 2 }, slot: 3},
		"dell": {bmc: newFakeBMC(3, "", "root"), slot: 3, change: func(b *fakeBMC) {
			b.refuse = func(c byte, data []byte, _ int) byte { // an empty slot has no name to say
				if c == getUserName && b.users[data[0]].name == "" {
					return codeInvalidField
				}
				return 0
			}
		}},
		"long-form": {bmc: newFakeBMC(2), slot: 2, change: func(b *fakeBMC) {
			b.refuse = func(c byte, data []byte, _ int) byte {
				if c == setUserPassword && data[1] == setPassword && data[0]&longPasswordBit == 0 {
					return codeLengthInvalid
				}
				return 0
			}
		}},
		"long-password": {bmc: newFakeBMC(2), slot: 2, password: "Abcdef-123456789-xyz"},
		"old-enable": {bmc: newFakeBMC(2), slot: 2, change: func(b *fakeBMC) {
			b.refuse = func(c byte, data []byte, _ int) byte {
				if c == setUserPassword && data[1] == enableUser && len(data) == 2 {
					return codeLengthInvalid
				}
				return 0
			}
		}},
		"busy": {bmc: newFakeBMC(2), slot: 2, change: func(b *fakeBMC) {
			b.refuse = func(c byte, _ []byte, times int) byte {
				if c == setUserName && times < 2 {
					return codeBusy
				}
				return 0
			}
		}},
		"always-busy": {bmc: newFakeBMC(2), change: func(b *fakeBMC) { b.refuse = only(getUserAccess, 0, codeBusy) },
			want: "Get User Access: the BMC is busy (completion code 0xc0)"},
		"weak-password": {bmc: newFakeBMC(2),
			change: func(b *fakeBMC) { b.refuse = only(setUserPassword, setPassword, 0xff) },
			want:   "make BMC user ferrite-inband in slot 2: Set User Password: the BMC gives no reason (completion code 0xff)"},
		"forbidden": {bmc: newFakeBMC(2), change: func(b *fakeBMC) { b.refuse = only(setUserName, 0, 0xd4) },
			want: "Set User Name: the BMC does not allow this command"},
		"not-stored": {bmc: newFakeBMC(2),
			change: func(b *fakeBMC) { b.refuse = only(setUserPassword, testPassword, codeMismatch) },
			want:   "test the password: Set User Password: the password is another one (completion code 0x80)"},
		"ours-refused": {bmc: newFakeBMC(2, "", "ferrite-inband"), want: "Set User Access: the function is switched off",
			change: func(b *fakeBMC) { b.refuse = only(setUserAccess, 0, 0xd6) }},
		"not-cleared": {bmc: newFakeBMC(2), want: "the slot could not be cleared: Set User Access",
			change: func(b *fakeBMC) { b.refuse = only(setUserAccess, 0, 0xd6) }},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.change != nil {
				tc.change(tc.bmc)
			}
			before := map[byte]fakeUser{}
			for i, u := range tc.bmc.users {
				before[i] = *u
			}
			u := User{Channel: 1, Name: "ferrite-inband", Password: testPasswordText}
			if tc.password != "" {
				u.Password = tc.password
			}
			made, err := Make(t.Context(), tc.bmc, u, mustGo)
			checkMade(t, made, err, tc.slot, tc.want)
			for i, was := range before {
				if i != tc.slot && tc.bmc.users[i].name != was.name && tc.want == "" {
					t.Errorf("slot %d was %+v and is %+v", i, was, *tc.bmc.users[i])
				}
			}
			if is := tc.bmc.users[tc.slot]; tc.want == "" && (is.name != u.Name || !is.enabled || !is.sol ||
				strings.TrimRight(is.password, "\x00") != u.Password || is.access != messagingBit|linkBit|administrator) {
				t.Errorf("the user is %+v", is)
			}
			golden(t, name, tc.bmc.log.String())
		})
	}
}

func checkMade(t *testing.T, made Made, err error, slot byte, want string) {
	t.Helper()
	if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
		t.Errorf("the error is %v, expected %q", err, want)
	}
	if err != nil && strings.Contains(err.Error(), testPasswordText) {
		t.Errorf("the error shows the password: %v", err)
	}
	if made.Slot != slot || err == nil && made.NoSOL != nil {
		t.Errorf("made %+v, expected slot %d", made, slot)
	}
}

// golden compares the commands with a file.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".txt")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (go test ./agent/ipmi -update writes it):\n%s", path, diff)
	}
}

// TestNoSOL: a BMC without serial over LAN gets its user all the same.
func TestNoSOL(t *testing.T) {
	b := newFakeBMC(2)
	b.refuse = func(c byte, _ []byte, _ int) byte {
		if c == getUserPayloadAccess {
			return 0xc1
		}
		return 0
	}
	made, err := Make(t.Context(), b, User{Channel: 1, Name: "n", Password: testPasswordText}, mustGo)
	if err != nil || made.Slot != 2 || made.NoSOL == nil ||
		!strings.Contains(made.NoSOL.Error(), "does not know this command (completion code 0xc1)") {
		t.Errorf("%+v, %v", made, err)
	}
}

// TestNoTime: an end in the middle leaves nothing behind.
func TestNoTime(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	b := newFakeBMC(2)
	b.refuse = func(c byte, data []byte, _ int) byte {
		if c == setUserPassword && data[1] == setPassword {
			cancel()
		}
		return 0
	}
	_, err := Make(ctx, b, User{Channel: 1, Name: "n", Password: testPasswordText}, mustGo)
	if !errors.Is(err, context.Canceled) || b.users[2].name != "" || b.users[2].enabled {
		t.Errorf("%v, and the slot has %+v", err, b.users[2])
	}
}

// lost is a machine with a BMC that answers too little, or not at all.
type lost struct {
	answer []byte
	err    error
}

func (l lost) IPMI(byte, byte, []byte, time.Duration) ([]byte, error) { return l.answer, l.err }

func TestNoAnswer(t *testing.T) {
	for want, bus := range map[string]lost{
		"Get User Access: the BMC's answer has 3 bytes, expected 4":              {answer: make([]byte, 3)},
		"Get User Access: no answer":                                             {err: errors.New("no answer")},
		"Get User Name: the BMC's answer has 4 bytes, expected 16":               {answer: []byte{5, 0, 0, 0}},
		"Get User Access: a reason of this command alone (completion code 0x90)": {err: &sys.IPMIError{Code: 0x90}},
		"Get User Access: a reason of the vendor's own (completion code 0x10)":   {err: &sys.IPMIError{Code: 0x10}},
	} {
		_, err := Make(t.Context(), bus, User{Channel: 1, Name: "n", Password: testPasswordText}, mustGo)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, expected %q", err, want)
		}
	}
	for want, bus := range map[string]lost{
		"shows no BMC to its kernel":         {err: fs.ErrNotExist},
		"Get Device ID: the BMC is starting": {err: &sys.IPMIError{Code: 0xd2}},
		"":                                   {},
	} {
		if err := Present(t.Context(), bus, mustGo); (err == nil) != (want == "") || err != nil &&
			!strings.Contains(err.Error(), want) {
			t.Errorf("%v, expected %q", err, want)
		}
	}
	for _, u := range []User{{Password: "p"}, {Name: strings.Repeat("n", 17)},
		{Name: "n", Password: strings.Repeat("p", 21)}} {
		if _, err := Make(t.Context(), lost{}, u, mustGo); err == nil || !strings.Contains(err.Error(), "expected a name") {
			t.Errorf("%q: %v", u.Name, err)
		}
	}
}

func TestPassword(t *testing.T) {
	seen := map[string]bool{}
	for range 1000 {
		p, err := Password(rand.Reader)
		if err != nil || len(p) != shortPassword || !acceptable(p) || seen[p] {
			t.Fatalf("%q, %v", p, err)
		}
		seen[p] = true
	}
	if _, err := Password(bytes.NewReader(make([]byte, 8))); err == nil {
		t.Error("a password out of too few random bytes")
	}
	for _, p := range []string{"abcdef-123456789", "ABCDEF-123456789", "Abcdef-ghijklmno", "Abcdef0123456789",
		"Abbdef-123456789", "1bCdef-123456789"} {
		if acceptable(p) {
			t.Errorf("%s is taken", p)
		}
	}
}

// FuzzMake: with any answers of a BMC, no slot below 2 is written, and no named one.
func FuzzMake(f *testing.F) {
	f.Add([]byte{4, 4, 1, 0, 0, 0})
	f.Add([]byte{4, 63, 1, 62, 0x14})
	f.Add([]byte{0, 16, 'a', 'd', 'm', 'i', 'n'})
	f.Fuzz(func(t *testing.T, script []byte) {
		bus := &scripted{script: script, names: map[byte]string{}, t: t}
		_, _ = Make(t.Context(), bus, User{Channel: 1, Name: "n", Password: testPasswordText}, mustGo)
	})
}

// scripted answers out of the fuzzer's bytes, and checks the writes.
type scripted struct {
	script []byte
	names  map[byte]string
	t      *testing.T
}

// take takes the next answer of the script: a length, and that many bytes.
func (s *scripted) take() []byte {
	if len(s.script) == 0 {
		return nil
	}
	n := min(int(s.script[0])%32, len(s.script)-1)
	b := s.script[1 : 1+n]
	s.script = s.script[1+n:]
	return b
}

func (s *scripted) IPMI(_, command byte, data []byte, _ time.Duration) ([]byte, error) {
	b := s.take()
	switch command {
	case getUserName:
		if name, err := decodeName(b); err == nil {
			s.names[data[0]] = name
		}
	case setUserName, setUserPassword:
		slot := data[0] & slotMask
		if name := s.names[slot]; slot < firstSlot || name != "" && name != "n" {
			s.t.Errorf("%s for slot %d, which is %q", commandNames[command], slot, name)
		}
	}
	if len(b) > 0 && b[0] == 0xee {
		return nil, &sys.IPMIError{Command: command, Code: codeInvalidField}
	}
	return b, nil
}
