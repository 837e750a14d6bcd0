// Package onedocument refuses files of settings that contain more than one YAML document.
package onedocument

import (
	"errors"
	"strings"
)

// Check refuses YAML with a second document. Parsers read only the first, and would silently drop settings or
// users in another one. Markers count at the beginning of a line, in any context (YAML 1.2.2, 9.1.2). The decoder of
// go.yaml.in misses a marker before a tab, and refuses the directive %YAML 1.2.
func Check(text []byte) error {
	content, ended := false, false
	for line := range strings.Lines(strings.TrimPrefix(string(text), "\ufeff")) {
		marker, rest, _ := strings.Cut(strings.ReplaceAll(strings.TrimRight(line, "\r\n"), "\t", " "), " ")
		begins := marker == "---"
		if marker == "..." {
			ended = content
			continue
		}
		if begins {
			line, ended = rest, ended || content
		}
		line = strings.TrimSpace(line)
		blank := line == "" || line[0] == '#' || !content && line[0] == '%'
		if ended && (begins || !blank) {
			return errors.New("expected one YAML document, found another behind ---: put all into one, or remove the rest")
		}
		content = content || begins || !blank
	}
	return nil
}
