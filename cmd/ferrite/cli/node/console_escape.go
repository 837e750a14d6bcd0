package node

// escapes finds the input meant for the console command itself: a tilde at the start of a line and one character, as in
// ssh(1).
type escapes struct {
	inLine bool // the line has begun
	tilde  bool // a tilde at its start waits for the next character
}

// escape is a command of the person at the terminal.
type escape int

const (
	noEscape escape = iota
	escapeEnd
	escapeHelp
)

// feed takes typed bytes, and returns those for the machine and the first command. Bytes
// after a command to end are dropped.
func (e *escapes) feed(typed []byte) (out []byte, command escape) {
	for _, b := range typed {
		if e.tilde {
			e.tilde = false
			switch b {
			case '.':
				return out, escapeEnd
			case '?':
				command = escapeHelp
				continue
			case '~':
			default:
				out = append(out, '~')
			}
		} else if !e.inLine && b == '~' {
			e.tilde = true
			continue
		}
		out = append(out, b)
		e.inLine = b != '\r' && b != '\n'
	}
	return out, command
}

const escapeText = "\r\n~.  end    ~?  this help    ~~  a tilde\r\n"
