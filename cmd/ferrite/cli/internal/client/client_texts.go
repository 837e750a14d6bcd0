package client

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
)

// statusText is the message of a Status that came in place of a document. Each of its causes has a line of its own.
func statusText(reply []byte) (string, bool) {
	var st struct {
		Kind, Message string
		Details       struct {
			Causes []struct{ Message, Field string }
		}
	}
	if json.Unmarshal(reply, &st) != nil || st.Kind != "Status" {
		return "", false
	}
	var lines []string
	for _, c := range st.Details.Causes {
		lines = append(lines, c.Field+": "+c.Message)
	}
	if len(lines) > 1 {
		return strings.Join(append([]string{fmt.Sprintf("%d things are wrong:", len(lines))}, lines...), "\n  "), true
	}
	return cmp.Or(strings.Join(lines, ""), st.Message), true
}

// warningText is the text of a Warning header (RFC 7234, 5.5): 299 - "text".
func warningText(header string) string {
	_, text, found := strings.Cut(header, `"`)
	if end := strings.LastIndexByte(text, '"'); found && end >= 0 {
		return strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(text[:end])
	}
	return header
}
