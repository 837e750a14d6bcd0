package netconfig

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// numeral is a JSON number, or text of one: Heat's and other templates quote all values (vlan_id: "7").
type numeral float64

// UnmarshalJSON reads either; null is zero.
func (n *numeral) UnmarshalJSON(b []byte) error {
	text := strings.TrimSpace(strings.Trim(string(b), `"`))
	if text == "null" || text == "" {
		return nil
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return &json.UnmarshalTypeError{Value: found(b), Type: reflect.TypeFor[float64]()}
	}
	*n = numeral(v)
	return nil
}

// whole is the number, which the member called key must have without a fraction.
func (n numeral) whole(key string) (int, error) {
	if v := int(n); numeral(v) == n && v >= 0 && v < 1<<31 {
		return v, nil
	}
	return 0, fmt.Errorf("%s: %v is no whole number", key, float64(n))
}

// word is text, or a number as text (bond_mode: 4, netmask: 24).
type word string

// UnmarshalJSON reads either; null is "".
func (w *word) UnmarshalJSON(b []byte) error {
	var text string
	var n json.Number
	switch {
	case json.Unmarshal(b, &text) == nil:
		*w = word(text)
	case json.Unmarshal(b, &n) == nil:
		*w = word(n)
	default:
		return &json.UnmarshalTypeError{Value: found(b), Type: reflect.TypeFor[string]()}
	}
	return nil
}

// found names the kind of a JSON value, with the value where it is short.
func found(b []byte) string { return fmt.Sprintf("%.40s", b) }

// formError says in words which member has the wrong kind.
func formError(err error) error {
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		return err
	}
	kinds := map[reflect.Kind]string{reflect.String: "text", reflect.Slice: "a list", reflect.Struct: "an object",
		reflect.Map: "an object", reflect.Bool: "true or false"}
	want, known := kinds[wrong.Type.Kind()]
	if !known {
		want = "a number"
	}
	if wrong.Field == "" {
		return fmt.Errorf("expected %s, found %s", want, wrong.Value)
	}
	return fmt.Errorf("%s: expected %s, found %s", wrong.Field, want, wrong.Value)
}
