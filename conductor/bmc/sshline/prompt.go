package sshline

import "strings"

// maxPrompt bounds the line that may be a prompt, in bytes.
const maxPrompt = 256

// lastLine is the text since the last end of a line, without the escape sequences of terminals (ECMA-48).
type lastLine struct {
	text  []byte
	state byte // 0, or where in an escape sequence the input is: ESC, or [
}

func (l *lastLine) add(data []byte) {
	for _, b := range data {
		switch {
		case l.state == '[':
			if b >= 0x40 && b <= 0x7e { // the final byte
				l.state = 0
			}
		case l.state == escape:
			l.state = 0
			if b == '[' {
				l.state = '['
			}
		case b == escape:
			l.state = escape
		case b == '\r' || b == '\n':
			l.text = l.text[:0]
		case b >= ' ' && len(l.text) < maxPrompt:
			l.text = append(l.text, b)
		}
	}
}

const escape = 0x1b

func (l *lastLine) String() string { return strings.TrimSpace(string(l.text)) }

// isPrompt reports whether a line that nothing follows asks for a command: racadm>>, </>hpiLO->, system>, ->, $.
func isPrompt(line string) bool {
	return line != "" && strings.ContainsAny(line[len(line)-1:], ">#$%")
}

// minPrompt is the least length of a prompt that is recognized. The prompt of a machine's own shell may be a single #.
const minPrompt = 2
