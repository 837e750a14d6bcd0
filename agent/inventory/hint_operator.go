package inventory

import "strings"

// numberOperators are those of root device hints on numbers; "=" is at least,
// for reasons of history.
func numberOperators() map[string]func(have, want float64) bool {
	return map[string]func(have, want float64) bool{
		"=":  func(h, w float64) bool { return h >= w },
		"==": func(h, w float64) bool { return h == w },
		"!=": func(h, w float64) bool { return h != w },
		">=": func(h, w float64) bool { return h >= w },
		"<=": func(h, w float64) bool { return h <= w },
		">":  func(h, w float64) bool { return h > w },
		"<":  func(h, w float64) bool { return h < w },
	}
}

// textOperators are those on strings.
func textOperators() map[string]func(have, want string) bool {
	return map[string]func(have, want string) bool{
		"s==":      func(h, w string) bool { return h == w },
		"s!=":      func(h, w string) bool { return h != w },
		"s>=":      func(h, w string) bool { return h >= w },
		"s>":       func(h, w string) bool { return h > w },
		"s<=":      func(h, w string) bool { return h <= w },
		"s<":       func(h, w string) bool { return h < w },
		"<in>":     strings.Contains,
		"<all-in>": containsAll,
	}
}

// matchText compares a string with a hint: equal, unless the hint starts with
// an operator. Both are in lower case.
func matchText(hint, have string) bool {
	if strings.HasPrefix(hint, "<or> ") {
		for choice := range strings.SplitSeq(hint, "<or> ") {
			if choice = strings.TrimSpace(choice); choice != "" && choice == have {
				return true
			}
		}
		return false
	}
	op, want, found := strings.Cut(hint, " ")
	if compare, known := textOperators()[op]; found && known {
		return compare(have, strings.TrimSpace(want))
	}
	return have == hint
}

func containsAll(have, words string) bool {
	for _, w := range strings.Fields(words) {
		if !strings.Contains(have, w) {
			return false
		}
	}
	return true
}
