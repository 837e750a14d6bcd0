package serve

import (
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// logger writes lines of at least a level to w, as text or JSON, without anybody's credentials.
func logger(level, format string, w io.Writer) (*slog.Logger, error) {
	var l slog.Level
	if err := l.UnmarshalText([]byte(level)); err != nil {
		return nil, fmt.Errorf("--log-level: %w", err)
	}
	o := &slog.HandlerOptions{Level: l, ReplaceAttr: masked}
	if format == "json" {
		return slog.New(slog.NewJSONHandler(w, o)), nil
	}
	return slog.New(slog.NewTextHandler(w, o)), nil
}

// The bytes of an attribute in the log, and of an error in it. The rest of a longer one is left out: callers choose the
// length of a path, a name or a header.
const (
	longestAttr  = 256
	longestError = 1024
)

// masked is an attribute as it is logged: without credentials, and bounded. Stacks are our own and stay whole.
func masked(groups []string, a slog.Attr) slog.Attr {
	most := longestAttr
	if _, failed := a.Value.Any().(error); failed || a.Key == slog.MessageKey {
		most = longestError
	}
	a = nodeapi.MaskAttr(groups, a)
	if k := a.Value.Kind(); a.Key == "stack" || k != slog.KindString && k != slog.KindAny {
		return a
	}
	if text := a.Value.String(); len(text) > most {
		a.Value = slog.StringValue(strings.ToValidUTF8(text[:most], "") + fmt.Sprintf("... (%d bytes)", len(text)))
	}
	return a
}
