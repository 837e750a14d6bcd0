package sshline

import (
	"strings"
	"testing"
)

func TestParseKeys(t *testing.T) {
	for text, want := range map[string]string{
		"ESC (": "\x1b(", "esc T": "\x1bT", `^\`: "\x1c", "Ctrl-]": "\x1d", "ctrl+a x": "\x01x", "CR ~.": "\r~.", "^": "^",
	} {
		if got, err := ParseKeys(text); got != want || err != nil {
			t.Errorf("%q: %q %v, want %q", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"": "expected 1 to 16 keys", "Press ~. to exit": `key "Press" is not known`, "ESC \x00": "is not known",
		strings.Repeat("a ", 17): "found 17", "^é": "is not known",
	} {
		if got, err := ParseKeys(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %q %v, want %q", text, got, err, want)
		}
	}
}

func TestKeysIn(t *testing.T) {
	for sentence, want := range map[string]string{
		"ESC (": "\x1b(", "Press ESC ( to exit": "\x1b(", "Press ~. to exit console": "~.", `Type "^\" to leave`: "\x1c",
		"To exit, press Ctrl-]": "\x1d", "Close the window to exit": "", "": "",
	} {
		if got, ok := KeysIn(sentence); got != want || ok != (want != "") {
			t.Errorf("%q: %q, want %q", sentence, got, want)
		}
	}
}

func FuzzKeysIn(f *testing.F) {
	f.Add("Press ESC ( to exit")
	f.Fuzz(func(t *testing.T, sentence string) {
		if keys, ok := KeysIn(sentence); ok != (keys != "") || len(keys) > maxKeys {
			t.Errorf("%q: %q", sentence, keys)
		}
	})
}

// TestGuard: the escape never passes, whole or in pieces, however often it is typed.
func TestGuard(t *testing.T) {
	for _, c := range []struct {
		keys, want string
		typed      []string
	}{
		{"\x1b(", "ab\x1bc", []string{"ab\x1b", "(", "(c"}},
		{"\x1b(", "\x1b\x1b[A(", []string{"\x1b\x1b(", "[A("}},
		{"\x1c", "xy", []string{"x\x1c\x1c", "y\x1c"}},
		{"\r~.", "\r~~\r~", []string{"\r~.", "~\r", "~..."}},
		{"", "\x1b(", []string{"\x1b("}},
	} {
		g, out := guard{keys: c.keys}, ""
		for _, typed := range c.typed {
			passed, _ := g.pass([]byte(typed))
			out += string(passed)
		}
		if out != c.want {
			t.Errorf("%q, typed %q: %q passes, want %q", c.keys, c.typed, out, c.want)
		}
	}
}

func FuzzGuard(f *testing.F) {
	f.Add("ESC (", []byte("\x1b((\x1b("), uint8(1))
	f.Add("CR ~.", []byte("\r~.\r~~.."), uint8(2))
	f.Fuzz(func(t *testing.T, text string, typed []byte, cut uint8) {
		keys, err := ParseKeys(text)
		if err != nil {
			return
		}
		g := guard{keys: keys}
		at := min(int(cut), len(typed))
		first, _ := g.pass(typed[:at])
		second, dropped := g.pass(typed[at:])
		all := string(first) + string(second)
		if strings.Contains(all, keys) {
			t.Errorf("%q passes %q", keys, all)
		}
		if !dropped && !strings.Contains(string(typed), keys) && all != string(typed) {
			t.Errorf("%q was typed, %q passes", typed, all)
		}
	})
}

func TestPrompt(t *testing.T) {
	for text, want := range map[string]string{
		"Welcome\r\n\x1b[1m</>hpiLO->\x1b[0m ": "</>hpiLO->", "racadm>>": "racadm>>", "a\nsystem> \x1b[K": "system>",
		"\r\n-> ": "->", "x\r": "",
	} {
		var l lastLine
		for _, b := range []byte(text) {
			l.add([]byte{b})
		}
		if got := l.String(); got != want || isPrompt(got) != (want != "") {
			t.Errorf("%q: the last line is %q, a prompt: %t", text, got, isPrompt(got))
		}
	}
}

func FuzzPrompt(f *testing.F) {
	f.Add([]byte("a\r\n\x1b[31m$ "))
	f.Fuzz(func(t *testing.T, data []byte) {
		var l lastLine
		l.add(data)
		if s := l.String(); len(s) > maxPrompt || strings.ContainsAny(s, "\x1b\r\n") {
			t.Errorf("%q", s)
		}
	})
}

func FuzzParseHostKey(f *testing.F) {
	f.Add("SHA256:" + strings.Repeat("A", 43))
	f.Add("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f")
	f.Fuzz(func(t *testing.T, text string) {
		k, err := ParseHostKey(text)
		if err == nil && strings.TrimSpace(text) != "" && !strings.HasPrefix(k.Fingerprint(), "SHA256:") {
			t.Errorf("%q: %+v", text, k)
		}
	})
}
