package rest

import (
	"net/http"
	"slices"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Ironic is written in Python, and its error texts quote values as Python
// prints them. Clients match on some of these texts.

// Python prints a decoded JSON value as Python's repr does.
func Python(v any) string { return nodeapi.Python(v) }

// SortedKeys returns the keys of a map in order.
func SortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// ParseBool takes the words Ironic takes for true and false.
func ParseBool(name, word string) (bool, error) {
	if is, known := nodeapi.Truth(word); known {
		return is, nil
	}
	return false, nodeapi.NewFault(http.StatusBadRequest,
		"Invalid %s: Unrecognized value '%s', acceptable values are: '0', '1', 'f', 'false', 'n', 'no', 'off', 'on', 't', "+
			"'true', 'y', 'yes'", name, word)
}
