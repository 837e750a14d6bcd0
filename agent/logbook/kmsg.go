package logbook

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// KernelTag begins the lines the agent itself puts into the kernel's log.
const KernelTag = "ferrite-agent"

// KernelLine formats a record of /dev/kmsg as dmesg does (the kernel's Documentation/ABI/testing/dev-kmsg). A record
// is "level,sequence,microseconds,flags;text", and more lines for programs. KernelLine returns false for malformed
// records, and for the agent's own lines, which have come by another way.
func KernelLine(record []byte) (string, bool) {
	head, rest, ok := strings.Cut(string(record), ";")
	fields := strings.Split(head, ",")
	if !ok || len(fields) < 3 {
		return "", false
	}
	micros, err := strconv.ParseInt(fields[2], 10, 64)
	text, _, _ := strings.Cut(rest, "\n")
	if err != nil || micros < 0 || strings.HasPrefix(text, KernelTag+":") {
		return "", false
	}
	at := time.Duration(micros) * time.Microsecond
	return fmt.Sprintf("[%5d.%06d] %s", at/time.Second, at%time.Second/time.Microsecond, text), true
}

// KernelError reports whether a record of /dev/kmsg is of an error, or worse: the
// lowest three bits of its level are syslog's severity (RFC 5424), 3 for an error.
func KernelError(record []byte) bool {
	level, _, _ := strings.Cut(string(record), ",")
	n, err := strconv.Atoi(level)
	return err == nil && n >= 0 && n&7 <= 3
}
