package debian

import (
	"cmp"
	"strings"
)

// compareVersions orders versions of packages as dpkg does (deb-version(7)): negative when a is the older one.
func compareVersions(a, b string) int {
	epochA, restA := cutEpoch(a)
	epochB, restB := cutEpoch(b)
	if c := compareNumbers(epochA, epochB); c != 0 {
		return c
	}
	upstreamA, revisionA := cutRevision(restA)
	upstreamB, revisionB := cutRevision(restB)
	return cmp.Or(comparePart(upstreamA, upstreamB), comparePart(revisionA, revisionB))
}

func cutEpoch(version string) (epoch, rest string) {
	if epoch, rest, found := strings.Cut(version, ":"); found {
		return epoch, rest
	}
	return "0", version
}

func cutRevision(version string) (upstream, revision string) {
	if i := strings.LastIndexByte(version, '-'); i >= 0 {
		return version[:i], version[i+1:]
	}
	return version, ""
}

// comparePart compares text and numbers in turn.
func comparePart(a, b string) int {
	for a != "" || b != "" {
		textA, restA := split(a, false)
		textB, restB := split(b, false)
		if c := compareText(textA, textB); c != 0 {
			return c
		}
		numberA, nextA := split(restA, true)
		numberB, nextB := split(restB, true)
		if c := compareNumbers(numberA, numberB); c != 0 {
			return c
		}
		a, b = nextA, nextB
	}
	return 0
}

// split cuts s behind its leading digits, or behind all that comes before the first digit.
func split(s string, digits bool) (head, rest string) {
	for i := range len(s) {
		if isDigit(s[i]) != digits {
			return s[:i], s[i:]
		}
	}
	return s, ""
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func compareNumbers(a, b string) int {
	a, b = strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
	return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
}

// compareText sorts "~" before the end, the end before letters, and letters before all else.
func compareText(a, b string) int {
	for i := range max(len(a), len(b)) {
		if c := cmp.Compare(weight(a, i), weight(b, i)); c != 0 {
			return c
		}
	}
	return 0
}

func weight(s string, i int) int {
	switch {
	case i >= len(s):
		return 0
	case s[i] == '~':
		return -1
	case s[i] >= 'A' && s[i] <= 'Z' || s[i] >= 'a' && s[i] <= 'z':
		return int(s[i])
	}
	return int(s[i]) + 256
}
