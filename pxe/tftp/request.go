package tftp

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
)

// TFTP opcodes (RFC 1350 section 5, RFC 2347).
const (
	opRead  = 1
	opWrite = 2
	opData  = 3
	opAck   = 4
	opError = 5
	opOACK  = 6
)

// TFTP error codes (RFC 1350 appendix).
const (
	codeNotFound = 1
	codeAccess   = 2
	codeIllegal  = 4
)

const (
	defaultBlock = 512   // RFC 1350
	maxBlockSize = 65464 // RFC 2348
	maxRequest   = 512   // RFC 2347: a request fits one plain block
	maxWindow    = 64    // blocks under way; RFC 7440 allows 65535, no firmware asks for more than 64
)

// request is a read request as it came in. The sizes are zero when not asked for.
type request struct {
	name   string
	block  int  // blksize
	window int  // windowsize
	size   bool // tsize: the client wants to know the length
}

// requestError is a request that gets an ERROR packet rather than silence.
type requestError struct {
	code uint16
	text string
}

func (e *requestError) Error() string { return e.text }

// parseRequest parses a request to the TFTP port. Option names are case-insensitive (RFC 2347); a malformed option
// counts as absent.
func parseRequest(b []byte) (request, error) {
	if len(b) < 4 || len(b) > maxRequest {
		return request{}, fmt.Errorf("tftp request of %d bytes, expected 4 to %d", len(b), maxRequest)
	}
	switch op := binary.BigEndian.Uint16(b); op {
	case opRead:
	case opWrite:
		return request{}, &requestError{codeAccess, "this server is read-only"}
	default:
		return request{}, fmt.Errorf("tftp opcode %d, expected a read request", op)
	}
	fields := bytes.Split(b[2:], []byte{0})
	if len(fields) < 3 { // the last field is the empty rest behind the last NUL
		return request{}, fmt.Errorf("tftp request without a file name or a mode")
	}
	r := request{name: string(fields[0])}
	switch mode := strings.ToLower(string(fields[1])); mode {
	case "octet", "netascii": // a loader is no text: it is sent as it is
	default:
		return request{}, &requestError{codeIllegal, "unknown transfer mode"}
	}
	for o := fields[2 : len(fields)-1]; len(o) >= 2; o = o[2:] {
		r.option(strings.ToLower(string(o[0])), string(o[1]))
	}
	return r, nil
}

func (r *request) option(name, value string) {
	n, err := strconv.Atoi(value)
	if err != nil {
		return
	}
	switch name {
	case "blksize":
		if n >= 8 && n <= maxBlockSize {
			r.block = n
		}
	case "windowsize":
		if n >= 1 && n <= 65535 {
			r.window = min(n, maxWindow)
		}
	case "tsize":
		r.size = n == 0
	}
}

// errorPacket is the answer that says why a client gets nothing.
func errorPacket(code uint16, text string) []byte {
	b := binary.BigEndian.AppendUint16([]byte{0, opError}, code)
	return append(append(b, text...), 0)
}
