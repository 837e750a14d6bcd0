package steps

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// decodeStrictly reads what came as JSON without a type into one. A key that
// nobody knows is an error: what was meant by it would not be done.
func decodeStrictly(item, into any) error {
	raw, err := json.Marshal(item)
	if err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	return d.Decode(into)
}

// invalidStep refuses a step for its arguments.
func invalidStep(format string, args ...any) error {
	return agentapi.NewCommandError("InvalidCommandParamsError", "Invalid command parameters", fmt.Sprintf(format, args...))
}
