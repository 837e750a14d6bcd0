package hostapi

import (
	"encoding/json"
	"reflect"
	"strconv"
)

// IntOrString is a value that documents have as a whole number or as a string,
// and that is given on as it was written.
type IntOrString struct {
	Text   string // the number in decimal digits
	Number bool
}

// String is the value as text, whether it was a number or a string.
func (v IntOrString) String() string { return v.Text }

// Value is the value as JSON has it, to be given on: a float64 or a string.
func (v IntOrString) Value() any {
	if n, err := strconv.ParseInt(v.Text, 10, 64); v.Number && err == nil {
		return float64(n)
	}
	return v.Text
}

// MarshalJSON writes a number or a string.
func (v IntOrString) MarshalJSON() ([]byte, error) {
	if v.Number {
		return []byte(v.Text), nil
	}
	return json.Marshal(v.Text)
}

// UnmarshalJSON reads the output of MarshalJSON, and nothing else. true is no string, and YAML turns many unquoted
// words into it.
func (v *IntOrString) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		*v = IntOrString{}
		return json.Unmarshal(b, &v.Text)
	}
	n, err := strconv.ParseInt(string(b), 10, 64)
	if err != nil {
		return &json.UnmarshalTypeError{Value: string(b), Type: reflect.TypeFor[IntOrString]()}
	}
	*v = IntOrString{Text: strconv.FormatInt(n, 10), Number: true}
	return nil
}
