package node

import "testing"

func TestEscapes(t *testing.T) {
	for typed, want := range map[string]struct {
		out     string
		command escape
	}{
		"ls\r":      {"ls\r", noEscape},
		"~.":        {"", escapeEnd},
		"ls\r~.x":   {"ls\r", escapeEnd},
		"ls\n~?":    {"ls\n", escapeHelp},
		"~?~.":      {"", escapeEnd},
		"a~.":       {"a~.", noEscape},
		"~~.":       {"~.", noEscape},
		"~a":        {"~a", noEscape},
		"~":         {"", noEscape},
		"\r~\r~.\r": {"\r~\r", escapeEnd},
	} {
		var whole, single escapes
		out, command := whole.feed([]byte(typed))
		if string(out) != want.out || command != want.command {
			t.Errorf("%q: %q %v, want %q %v", typed, out, command, want.out, want.command)
		}
		out, command = nil, noEscape
		for i := 0; i < len(typed) && command != escapeEnd; i++ {
			some, c := single.feed([]byte{typed[i]})
			out, command = append(out, some...), max(c, noEscape)
			if c == noEscape && want.command == escapeHelp {
				command = escapeHelp
			}
		}
		if string(out) != want.out {
			t.Errorf("%q byte by byte: %q, want %q", typed, out, want.out)
		}
	}
}
