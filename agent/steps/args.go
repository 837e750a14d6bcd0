package steps

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// decodeStrictly decodes untyped JSON into a type. An unknown key is an error:
// ignoring it would leave out something that was asked for.
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
	return agentapi.NewCommandError("InvalidCommandParamsError", "Invalid command parameters",
		fmt.Sprintf(format, args...))
}
