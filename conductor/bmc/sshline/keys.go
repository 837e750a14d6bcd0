package sshline

import (
	"fmt"
	"strings"
)

// maxKeys bounds a sequence of keys, in bytes.
const maxKeys = 16

// ParseKeys reads a sequence of keys as manuals write it: keys with spaces between them, of which each is one
// character, ESC, TAB, CR, SPACE, ^X or Ctrl-X. "ESC (" is 1b 28, `^\` is 1c. The error names the key that is not
// understood.
func ParseKeys(text string) (string, error) {
	var keys strings.Builder
	for _, word := range strings.Fields(text) {
		b, err := parseKey(word)
		if err != nil {
			return "", err
		}
		keys.WriteString(b)
	}
	if n := keys.Len(); n == 0 || n > maxKeys {
		return "", fmt.Errorf("expected 1 to %d keys such as \"ESC (\" or ^\\, found %d", maxKeys, n)
	}
	return keys.String(), nil
}

// KeysIn finds the sequence of keys that a sentence for people names, as Redfish's HotKeySequenceDisplay is one: "Press
// ESC ( to leave". ok is false when none is found.
func KeysIn(sentence string) (keys string, ok bool) {
	if keys, err := ParseKeys(sentence); err == nil {
		return keys, true
	}
	words := strings.FieldsFunc(sentence, func(r rune) bool { return r == ' ' || r == '"' || r == '\'' || r == ',' })
	for i, word := range words {
		b, err := parseKey(word)
		if err != nil || len(word) < 2 || len(b) == 2 && b[0] != '~' {
			continue // a word of the sentence
		}
		if b == "\x1b" && i+1 < len(words) && len(words[i+1]) == 1 {
			b += words[i+1]
		}
		return b, true
	}
	return "", false
}

var namedKeys = map[string]string{"ESC": "\x1b", "TAB": "\t", "CR": "\r", "ENTER": "\r", "SPACE": " "}

func parseKey(word string) (string, error) {
	upper := strings.ToUpper(word)
	if named, ok := namedKeys[upper]; ok {
		return named, nil
	}
	letter := ""
	for _, prefix := range []string{"CTRL-", "CTRL+", "^"} {
		if after, ok := strings.CutPrefix(upper, prefix); ok {
			letter = after
			break
		}
	}
	switch {
	case len(letter) == 1 && letter[0] >= '@' && letter[0] <= '_':
		return string(rune(letter[0] - '@')), nil
	case len(word) <= 2 && printable(word): // a pair such as ~. is written as one
		return word, nil
	}
	return "", fmt.Errorf("key %.20q is not known: expected a character, ESC, TAB, CR, SPACE or ^X", word)
}

func printable(word string) bool {
	for _, b := range []byte(word) {
		if b <= ' ' || b > '~' {
			return false
		}
	}
	return true
}

// guard keeps a sequence of keys out of a stream: the byte that would complete it is left out, as often as it comes.
type guard struct {
	keys string
	sent string // the end of the passed output, shorter than keys
}

// pass returns the part of input that may be sent, and whether a byte was left out.
func (g *guard) pass(input []byte) (out []byte, dropped bool) {
	if g.keys == "" {
		return input, false
	}
	out = make([]byte, 0, len(input))
	for _, b := range input {
		next := g.sent + string([]byte{b})
		if strings.HasSuffix(next, g.keys) {
			dropped = true
			continue // the BMC still waits for this byte
		}
		out = append(out, b)
		g.sent = next[max(0, len(next)-len(g.keys)+1):]
	}
	return out, dropped
}
