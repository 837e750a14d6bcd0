package redfish

import (
	"errors"
	"fmt"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Bounds on a BMC's texts that are repeated or kept, in bytes.
const (
	maxError = 2048    // of an error or a note: it names the BMC's resources and their contents
	maxLabel = 255     // of a name, a serial number or a version, as Ironic's columns have it
	maxValue = 4096    // of a setting
	maxKept  = 4 << 20 // of all settings; real servers have half a megabyte
)

// clip is a text of a BMC on one line, cut where it is too long.
func clip(text string, most int) string {
	if len(text) > most { // before it is looked at, which takes longer; a clean text may lose its end for it
		text = strings.ToValidUTF8(text[:most], "") + "..."
	}
	return nodeapi.Printable(text)
}

func label(text string) string { return clip(text, maxLabel) }

// clipValue is a value of JSON with its texts clipped, the keys of objects too.
func clipValue(v any) any {
	switch v := v.(type) {
	case string:
		return clip(v, maxValue)
	case []any:
		all := make([]any, len(v))
		for i := range v {
			all[i] = clipValue(v[i])
		}
		return all
	case map[string]any:
		all := make(map[string]any, len(v))
		for key := range v {
			all[label(key)] = clipValue(v[key])
		}
		return all
	}
	return v
}

// shown is err as people and logs see it: the BMC has written parts of it, and a terminal
// must not obey them.
func shown(err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	clean := clip(text, maxError)
	if clean == text {
		return err
	}
	var refusal *node.Refusal
	if errors.As(err, &refusal) { // clients see its reason
		return node.Refuse(refusal.Kind, "%s", clip(refusal.Reason, maxError))
	}
	return &shownError{clean, err}
}

// shownError is an error in other words.
type shownError struct {
	text  string
	cause error
}

func (e *shownError) Error() string { return e.text }

func (e *shownError) Unwrap() error { return e.cause }

// tooMuch is the error for a report that exceeds the limit of one machine.
func tooMuch(what string, found, most int) error {
	return fmt.Errorf("the BMC reports %s in %d bytes, at most %d are kept", what, found, most)
}
