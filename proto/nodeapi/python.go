package nodeapi

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Python prints a decoded JSON value as Python's repr does. Ironic is written
// in Python: its error texts quote values this way, and so do its inspection
// rules where a list or an object becomes text.
func Python(v any) string {
	switch v := v.(type) {
	case nil:
		return "None"
	case string:
		return "'" + v + "'"
	case bool:
		if v {
			return "True"
		}
		return "False"
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			return strconv.FormatInt(int64(v), 10)
		}
		return strconv.FormatFloat(v, 'g', -1, 64)
	case []any:
		items := make([]string, len(v))
		for i, item := range v {
			items[i] = Python(item)
		}
		return "[" + strings.Join(items, ", ") + "]"
	case map[string]any:
		keys := make([]string, 0, len(v))
		for k := range v {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		for i, k := range keys {
			keys[i] = "'" + k + "': " + Python(v[k])
		}
		return "{" + strings.Join(keys, ", ") + "}"
	}
	return fmt.Sprint(v)
}
