// Package driverinfo reads the settings of a BMC from a node's driver_info, and names each fault in them.
//
// It must not connect to anything, and must not put a secret into an error.
package driverinfo

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// Error is a setting that is missing or cannot be right.
type Error struct {
	Key     string
	Problem string // the expectation, and the remedy
}

func (e *Error) Error() string { return fmt.Sprintf("driver_info: %s %s", e.Key, e.Problem) }

// Permanent says that trying again does not help.
func (e *Error) Permanent() bool { return true }

// Wrong makes an Error.
func Wrong(key, format string, args ...any) error {
	return &Error{key, fmt.Sprintf(format, args...)}
}

// Text reads a setting that is text; "" when it is not set.
func Text(n node.Node, key string) (string, error) {
	switch v := n.DriverInfo[key].(type) {
	case nil:
		return "", nil
	case string:
		return v, nil
	default:
		return "", Wrong(key, "must be a string, not %T", v)
	}
}

// BMCText is Text for a setting of redfish, which a vendor's hardware type may have under a key of its own: ilo_address
// for redfish_address.
func BMCText(n node.Node, key string) (string, error) {
	written, _ := n.BMCSettingOf(key)
	return Text(n, written)
}

// Required is Text for a setting that must be there.
func Required(n node.Node, key, what string) (string, error) {
	v, err := Text(n, key)
	if err == nil && v == "" {
		err = Wrong(key, "is missing: set it to %s", what)
	}
	return v, err
}

// Number reads a setting that is a whole number, which may be written as text. It returns otherwise when the key is not
// set.
func Number(n node.Node, key string, otherwise int) (int, error) {
	switch v := n.DriverInfo[key].(type) {
	case nil:
		return otherwise, nil
	case int:
		return v, nil
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<31 {
			return int(v), nil
		}
	case string:
		if i, err := strconv.Atoi(v); err == nil {
			return i, nil
		}
		if v == "" {
			return otherwise, nil
		}
	}
	return 0, Wrong(key, "must be a whole number, not %v", n.DriverInfo[key])
}

// words are the accepted spellings of true and false, in lower case.
var words = map[string]bool{
	"true": true, "t": true, "yes": true, "y": true, "on": true, "1": true,
	"false": false, "f": false, "no": false, "n": false, "off": false, "0": false,
}

// Bool reads a setting that is true or false, which may be written as text. It returns otherwise when the key is not
// set.
func Bool(n node.Node, key string, otherwise bool) (bool, error) {
	switch v := n.DriverInfo[key].(type) {
	case nil:
		return otherwise, nil
	case bool:
		return v, nil
	case string:
		if is, ok := Word(v); ok {
			return is, nil
		}
	}
	return false, Wrong(key, "must be true or false, not %v", n.DriverInfo[key])
}

// Word reads a word for true or false; ok is false for any other.
func Word(s string) (is, ok bool) {
	is, ok = words[strings.ToLower(s)]
	return is, ok
}
