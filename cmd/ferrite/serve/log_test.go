package serve

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"testing"
)

// TestLog: both formats have the same keys, and no credentials.
func TestLog(t *testing.T) {
	for format, want := range map[string]string{"text": "node=n1", "json": `"node":"n1"`} {
		var b bytes.Buffer
		log, err := logger("info", format, &b)
		if err != nil {
			t.Fatal(err)
		}
		log.Debug("not this")
		log.Info("state", "node", "n1", "err", errors.New("GET http://user:geheim@host/: refused"))
		line := b.String()
		if !strings.Contains(line, want) || strings.Contains(line, "geheim") || strings.Count(line, "\n") != 1 {
			t.Errorf("%s: %s", format, line)
		}
		if valid := json.Valid([]byte(line)); valid != (format == "json") {
			t.Errorf("%s: JSON is %v: %s", format, valid, line)
		}
	}
}

// TestLogIsBounded: callers choose how long a path, an origin or a name is.
func TestLogIsBounded(t *testing.T) {
	for _, format := range []string{"text", "json"} {
		var b bytes.Buffer
		log, err := logger("info", format, &b)
		if err != nil {
			t.Fatal(err)
		}
		long := strings.Repeat(`"`, 60_000)
		log.With("origin", long).WithGroup("g").Info("refused", "path", long, "err", errors.New(long), "url",
			&url.URL{Path: long}, "names", []string{long})
		if b.Len() > 10_000 || strings.Count(b.String(), "60000 bytes") != 3 {
			t.Errorf("%s: a line of %d bytes: %.6000s", format, b.Len(), b.String())
		}
	}
}
