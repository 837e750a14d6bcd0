package qemu

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"
	"unicode"
)

// Line is one line of a machine's serial console.
type Line struct {
	Start int           // which start of the machine it belongs to, from 1
	After time.Duration // since that start
	Text  string        // without control characters and terminal sequences
}

const (
	// maxLine cuts a line of a guest that never ends one.
	maxLine = 4096
	// idleFlush shows a prompt, which has no line end, after that much silence.
	idleFlush = time.Second
)

// splitter cuts a console's bytes into lines and drops the codes for terminals: firmware repaints its screen with
// escape sequences.
type splitter struct {
	line  []byte
	shown int // how much of line was emitted while it waited for its end
	state escapeState
}

type escapeState int

// Where in an escape sequence (ECMA-48, 5.4) the input is.
const (
	plain    escapeState = iota
	escaped              // after ESC
	sequence             // in a control sequence, after ESC [
)

// add takes more bytes and calls emit for each line they complete. Empty
// lines are dropped: carriage return and line feed both end one.
func (s *splitter) add(data []byte, emit func(string)) {
	for _, b := range data {
		switch {
		case b == 0x1b:
			s.state = escaped
		case s.state == escaped:
			s.state = plain
			if b == '[' {
				s.state = sequence
			}
		case s.state == sequence:
			if b >= 0x40 && b <= 0x7e { // final byte
				s.state = plain
			}
		case b == '\n' || b == '\r':
			s.flush(emit)
		case b == '\t' || b >= 0x20 && b != 0x7f:
			s.line = append(s.line, b)
			if len(s.line) >= maxLine {
				s.flush(emit)
			}
		}
	}
}

// flush emits the line and starts the next. A line shown before is emitted
// again, whole, when more of it came.
func (s *splitter) flush(emit func(string)) {
	s.show(emit)
	s.line, s.shown = s.line[:0], 0
}

// show emits the received part of an unfinished line, once.
func (s *splitter) show(emit func(string)) {
	if len(s.line) > s.shown {
		emit(clean(s.line))
		s.shown = len(s.line)
	}
}

// clean makes any bytes printable text.
func clean(raw []byte) string {
	text := []rune(string(raw)) // invalid UTF-8 becomes U+FFFD
	for i, r := range text {
		if !unicode.IsPrint(r) && r != '\t' {
			text[i] = unicode.ReplacementChar
		}
	}
	return string(text)
}

// readConsole calls emit for each line, and wrote with the bytes as they come, until conn ends.
func readConsole(conn net.Conn, emit func(string), wrote func([]byte)) error {
	var lines splitter
	defer lines.flush(emit)
	buf := make([]byte, 4096)
	for {
		if err := conn.SetReadDeadline(time.Now().Add(idleFlush)); err != nil {
			return fmt.Errorf("console: %w", err)
		}
		n, err := conn.Read(buf)
		wrote(buf[:n])
		lines.add(buf[:n], emit)
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			lines.show(emit)
		case errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed):
			return nil
		case err != nil:
			return fmt.Errorf("console: %w", err)
		}
	}
}
