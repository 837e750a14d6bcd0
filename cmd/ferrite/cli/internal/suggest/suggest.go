// Package suggest finds the known word that is nearest to a mistyped one.
package suggest

import (
	"fmt"
	"slices"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// DidYouMean is a question about the known word nearest to a mistyped one, after a line break; "" when none is near.
func DidYouMean(word, before string, known []string) string {
	if near := nodeapi.Closest(word, known); near != "" {
		return fmt.Sprintf("\n  did you mean %s%s?", before, near)
	}
	return ""
}

// Unknown is the error of a word that is none of the known; nil for one of them.
func Unknown(what, word, list string, known []string) error {
	if slices.Contains(known, word) {
		return nil
	}
	text := DidYouMean(word, "", known)
	if text == "" {
		text = "\n  " + list
	}
	return fmt.Errorf("%s %q is unknown%s", what, word, text)
}
