package contact

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"

	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// packFrom is the size from which a body is worth packing.
const packFrom = 4 << 10

// Log hands over log lines, packed when they are many. Only a conductor that
// asked for them in its lookup reply knows this path.
func (c *Conductor) Log(ctx context.Context, nodeUUID string, l agentapi.LogLines) error {
	body, err := json.Marshal(l)
	if err != nil {
		return fmt.Errorf("log lines: %w", err)
	}
	header := http.Header{}
	if len(body) >= packFrom {
		if body, err = pack(body); err != nil {
			return fmt.Errorf("log lines: %w", err)
		}
		header.Set("Content-Encoding", "gzip")
	}
	path := agentapi.AgentsPath + url.PathEscape(nodeUUID) + agentapi.LogSuffix
	return c.send(ctx, http.MethodPost, c.URL()+path, header, body, nil)
}

func pack(b []byte) ([]byte, error) {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestSpeed)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(b); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
