package nodeapi

import "strings"

// Closest is the known name that a mistyped word most likely means, "" when none is
// near: for an error that says "did you mean". Case does not count. Near is a third of
// the word's characters wrong, at most.
func Closest(word string, known []string) string {
	word = strings.ToLower(word)
	best, least := "", max(1, len(word)/3)+1
	for _, name := range known {
		if n := distance(word, strings.ToLower(name), least); n < least {
			best, least = name, n
		}
	}
	return best
}

// DidYouMean is a question about the known name nearest to a mistyped word, for the inside of a sentence:
// " (did you mean NAME?)"; "" when none is near.
func DidYouMean(word string, known []string) string {
	if near := Closest(word, known); near != "" {
		return " (did you mean " + near + "?)"
	}
	return ""
}

// distance is how many bytes must be inserted, removed, replaced or swapped with the next
// one to make b of a (optimal string alignment); limit or more where it is not less than
// limit.
func distance(a, b string, limit int) int {
	if len(a)-len(b) >= limit || len(b)-len(a) >= limit {
		return limit
	}
	rows := [3][]int{make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)}
	for j := range rows[0] {
		rows[0][j] = j
	}
	last, row := rows[0], rows[1]
	before := rows[2]
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
