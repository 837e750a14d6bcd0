package bootentry

import (
	"cmp"
	"strings"
)

// compareSD orders entries as systemd-boot does, the one to boot first
// (config_entry_compare of its boot.c).
func compareSD(a, b sdEntry) int {
	if c := cmp.Or(compareBool(a.left == 0, b.left == 0), compareBool(a.sortKey == "", b.sortKey == "")); c != 0 {
		return c
	}
	if a.sortKey != "" {
		c := cmp.Or(strings.Compare(a.sortKey, b.sortKey), strings.Compare(a.machine, b.machine),
			compareVersions(b.version, a.version))
		if c != 0 {
			return c
		}
	}
	if c := compareVersions(b.id, a.id); c != 0 {
		return c
	}
	if a.left < 0 || b.left < 0 {
		return 0
	}
	return cmp.Or(cmp.Compare(b.left, a.left), cmp.Compare(a.done, b.done))
}

// compareBool puts false first.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// compareVersions compares two versions
// (https://uapi-group.org/specifications/specs/version_format_specification/).
func compareVersions(a, b string) int {
	for {
		a, b = strings.TrimLeftFunc(a, notOfVersion), strings.TrimLeftFunc(b, notOfVersion)
		if c := compareMark(&a, &b, '~'); c != 0 {
			return c
		}
		if a == "" || b == "" {
			return cmp.Compare(len(a), len(b))
		}
		for _, mark := range "-^." {
			if c := compareMark(&a, &b, byte(mark)); c != 0 {
				return c
			}
		}
		if c := comparePart(&a, &b); c != 0 {
			return c
		}
	}
}

// notOfVersion are characters that versions are compared without.
func notOfVersion(r rune) bool {
	return !isName(r) && !strings.ContainsRune("-.~^", r) || r == '_'
}

// compareMark takes a mark from both. Where one alone has it, that one is the older.
func compareMark(a, b *string, mark byte) int {
	inA, inB := *a != "" && (*a)[0] == mark, *b != "" && (*b)[0] == mark
	switch {
	case inA && inB:
		*a, *b = (*a)[1:], (*b)[1:]
	case inA:
		return -1
	case inB:
		return 1
	}
	return 0
}

// comparePart takes a number from both, where either begins with one, or else letters.
func comparePart(a, b *string) int {
	isDigit := func(r rune) bool { return r >= '0' && r <= '9' }
	isLetter := func(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' }
	if !startsWith(*a, isDigit) && !startsWith(*b, isDigit) {
		return strings.Compare(take(a, isLetter), take(b, isLetter))
	}
	partA, partB := take(a, isDigit), take(b, isDigit)
	if partA == "" || partB == "" { // a number is newer than none
		return cmp.Compare(len(partA), len(partB))
	}
	partA, partB = strings.TrimLeft(partA, "0"), strings.TrimLeft(partB, "0")
	return cmp.Or(cmp.Compare(len(partA), len(partB)), strings.Compare(partA, partB))
}

func startsWith(s string, kind func(rune) bool) bool { return s != "" && kind(rune(s[0])) }

// take takes the characters of a kind from the front.
func take(s *string, kind func(rune) bool) string {
	rest := strings.TrimLeftFunc(*s, kind)
	part := (*s)[:len(*s)-len(rest)]
	*s = rest
	return part
}
