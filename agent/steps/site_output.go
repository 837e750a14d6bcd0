package steps

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Bounds of a site step's output.
const (
	siteLine    = 1 << 10 // bytes of a line; the rest of it is dropped
	siteBurst   = 100     // lines in the log at once
	siteRate    = 10      // lines a second after that
	siteWords   = 5       // last lines of stderr, in the error of a step
	siteMessage = 120     // bytes of a progress message
)

// siteOutput reads stdout and stderr of one site step.
type siteOutput struct {
	log      *slog.Logger
	progress func(percent int64, stage string)

	mu      sync.Mutex // stdout and stderr come at the same time
	percent int64      // the highest that was reported; -1 before the first
	words   []string   // last lines of stderr
	tokens  float64    // lines that may be logged now
	filled  time.Time  // when tokens were counted
	dropped int
}

func newSiteOutput(log *slog.Logger, progress func(percent int64, stage string)) *siteOutput {
	return &siteOutput{log: log, progress: progress, percent: -1, tokens: siteBurst, filled: time.Now()}
}

// lastWords is the end of stderr on one line.
func (o *siteOutput) lastWords() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return strings.Join(o.words, " | ")
}

// siteStream splits one stream into lines. It holds at most siteLine bytes.
type siteStream struct {
	out    *siteOutput
	stderr bool
	line   []byte
	cut    int // bytes of this line that were dropped
}

func (o *siteOutput) stream(stderr bool) *siteStream { return &siteStream{out: o, stderr: stderr} }

// Write takes all that comes: a program must not stand still for its log.
func (s *siteStream) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		part, after, ended := bytes.Cut(rest, []byte("\n"))
		room := min(len(part), siteLine-len(s.line))
		s.line = append(s.line, part[:room]...)
		s.cut += len(part) - room
		if ended {
			s.end()
		}
		rest = after
	}
	return len(p), nil
}

// end hands a line over.
func (s *siteStream) end() {
	text := strings.TrimSpace(nodeapi.Printable(string(s.line)))
	if s.cut > 0 {
		text += fmt.Sprintf(" (and %d bytes more)", s.cut)
	}
	if text != "" {
		s.out.take(text, s.stderr, time.Now())
	}
	s.line, s.cut = s.line[:0], 0
}

// close hands over a last line without an end, and says how much was left out.
func (s *siteStream) close() {
	s.end()
	s.out.mu.Lock()
	defer s.out.mu.Unlock()
	if s.out.dropped > 0 {
		s.out.log.Warn("lines of the step are not in this log: it wrote too many", "lines", s.out.dropped)
		s.out.dropped = 0
	}
}

// take takes one line of text.
func (o *siteOutput) take(text string, stderr bool, now time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if stderr {
		o.words = append(o.words, text)
		o.words = o.words[max(0, len(o.words)-siteWords):]
	} else if percent, message, is := parseProgress(text); is {
		// Progress that does not rise is none: it must not keep a step alive.
		if percent > o.percent {
			o.percent = percent
			o.progress(percent, message)
		}
		return
	}
	o.tokens = min(siteBurst, o.tokens+siteRate*now.Sub(o.filled).Seconds())
	o.filled = now
	if o.tokens < 1 {
		o.dropped++
		return
	}
	o.tokens--
	o.log.Info("site step says", "line", text)
}

// parseProgress reads a line {"progress": 40, "message": "..."}. Every other line is a
// line for the log. The percentage is kept within 0 to 100.
func parseProgress(line string) (percent int64, message string, is bool) {
	if !strings.HasPrefix(line, "{") {
		return 0, "", false
	}
	var p struct {
		Progress *float64 `json:"progress"`
		Message  string   `json:"message"`
	}
	if json.Unmarshal([]byte(line), &p) != nil || p.Progress == nil {
		return 0, "", false
	}
	message = p.Message
	if len(message) > siteMessage {
		message = strings.ToValidUTF8(message[:siteMessage], "")
	}
	return int64(min(max(*p.Progress, 0), 100)), nodeapi.Printable(message), true
}

// oomKills reads the line oom_kill of /proc/vmstat.
func oomKills(r io.Reader) int64 {
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		if text, ok := strings.CutPrefix(lines.Text(), "oom_kill "); ok {
			n, _ := strconv.ParseInt(strings.TrimSpace(text), 10, 64) // 0 for text that is none
			return n
		}
	}
	return 0
}
