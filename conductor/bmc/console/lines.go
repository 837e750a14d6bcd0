package console

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// maxBootLines bounds the lines of one boot's console output.
const maxBootLines = 2000

const escape = 0x1b

// Lines splits terminal output into plain lines. Escape sequences (ECMA-48), control characters and empty lines are
// left out. A carriage return or a sequence that moves the cursor begins a line: firmware paints its screen with them.
func Lines(text []byte) (lines []string) {
	var line []byte
	flush := func() {
		if s := strings.TrimRight(string(line), " "); s != "" {
			lines = append(lines, s)
		}
		line = line[:0]
	}
	for len(text) > 0 {
		b := text[0]
		switch {
		case b == escape:
			n, moves := sequence(text)
			if moves {
				flush()
			}
			text = text[n:]
			continue
		case b == '\n' || b == '\r':
			flush()
		case b == '\b' && len(line) > 0:
			_, n := utf8.DecodeLastRune(line)
			line = line[:len(line)-n]
		case b == '\t' || b >= ' ' && b != 0x7f:
			line = append(line, b)
		}
		text = text[1:]
	}
	flush()
	return lines
}

// sequence is the length of the escape sequence that text begins with, and whether it moves
// the cursor.
func sequence(text []byte) (n int, moves bool) {
	if len(text) < 2 {
		return len(text), false
	}
	switch text[1] {
	case '[': // CSI: parameters, then one final byte
		for n = 2; n < len(text); n++ {
			if b := text[n]; b < 0x20 || b > 0x3f {
				return min(n+1, len(text)), bytes.IndexByte([]byte("ABCDEFGHJdf"), b) >= 0
			}
		}
		return n, false
	case ']', 'P', '^', '_', 'X': // strings, up to BEL or ST
		for n = 2; n < len(text); n++ {
			if text[n] == 0x07 {
				return n + 1, false
			}
			if text[n] == escape || text[n] == '\n' { // ST, or a string that never ends
				return n, false
			}
		}
		return n, false
	case '(', ')', '#', '%':
		return min(3, len(text)), false
	}
	return 2, false
}

// BeforeKernel is the part of a boot's lines that comes before the kernel's: its own log has
// the rest. The newest boot counts.
func BeforeKernel(lines []string) []string {
	for i := len(lines) - 1; i >= 0; i-- {
		if strings.Contains(lines[i], "] Linux version ") {
			lines = lines[:i]
			break
		}
	}
	return lines[max(0, len(lines)-maxBootLines):]
}
