package nova

import (
	"log/slog"
	"strings"
	"testing"
)

// FuzzNote: no answer of Nova reaches the log as lines of its own.
func FuzzNote(f *testing.F) {
	for _, seed := range []string{
		`{"events":[{"server_uuid":"u","code":404}]}`, `{"events":{}}`, `{"events":[{"code":"200"}]}`, `[`, "",
		"{\"events\":[{\"server_uuid\":\"a\\nb\",\"code\":500}]}",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, answer string) {
		var log strings.Builder
		n := &Notifier{Config{Log: slog.New(slog.NewTextHandler(&log, nil))}}
		n.note(strings.NewReader(answer))
		for line := range strings.Lines(log.String()) {
			if !strings.HasPrefix(line, "time=") {
				t.Errorf("a line of the answer's own: %q", line)
			}
		}
	})
}
