package nodeapi

import "strings"

// Truth reads a word for true or false, as Ironic does (oslo.utils, strutils). known is false for other words.
func Truth(word string) (is, known bool) {
	switch strings.ToLower(strings.TrimSpace(word)) {
	case "1", "t", "true", "on", "y", "yes":
		return true, true
	case "0", "f", "false", "off", "n", "no":
		return false, true
	}
	return false, false
}
