package serve

import (
	"fmt"
	"io"
	"log/slog"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// logger writes lines of at least a level to w, as text or JSON, without anybody's credentials.
func logger(level, format string, w io.Writer) (*slog.Logger, error) {
	var l slog.Level
	if err := l.UnmarshalText([]byte(level)); err != nil {
		return nil, fmt.Errorf("--log-level %q: it is one of debug, info, warn, error", level)
	}
	o := &slog.HandlerOptions{Level: l, ReplaceAttr: nodeapi.MaskAttr}
	switch format {
	case "text":
		return slog.New(slog.NewTextHandler(w, o)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(w, o)), nil
	}
	return nil, fmt.Errorf("--log-format %q: it is text or json", format)
}
