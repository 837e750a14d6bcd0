package redfish

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// form is a value in another kind.
type form struct {
	value any
	kind  string
}

// forms are the other kinds in which BMCs write a value, the likeliest first.
func forms(v any) (all []form) {
	switch v := v.(type) {
	case string:
		text := strings.TrimSpace(v)
		all = append(all, numbers(text)...)
		switch strings.ToLower(text) {
		case "true", "yes", "enabled":
			all = append(all, form{true, "true"})
		case "false", "no", "disabled":
			all = append(all, form{false, "false"})
		}
		if strings.HasPrefix(text, "/") {
			all = append(all, form{map[string]any{"@odata.id": text}, "a link"})
		}
	case json.Number:
		all = append(all, form{v.String(), "text"})
		all = append(append(all, numbers(v.String())...), form{strings.Trim(v.String(), "0.") != "", "true or false"})
	case bool:
		all = append(all, form{fmt.Sprint(v), "text"})
	case []any:
		if len(v) == 1 {
			return append(all, form{v[0], "its only item"})
		}
		return nil
	case map[string]any:
		if link, ok := v["@odata.id"].(string); ok {
			all = append(all, form{link, "the text of its link"})
		}
	}
	if v == nil {
		return nil
	}
	return append(all, form{[]any{v}, "a list of it"})
}

// numbers are the number that a text is: as it is, and without its fraction.
func numbers(text string) (all []form) {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(n, 0) || math.IsNaN(n) {
		return nil
	}
	if json.Valid([]byte(text)) { // its digits, which n may lack
		all = append(all, form{json.Number(text), "a number"})
	}
	all = append(all, form{n, "a number"})
	if math.Abs(n) < 1<<53 {
		all = append(all, form{int64(n), "a whole number"})
	}
	return all
}
