// Package secret reads passwords and tokens that people give a command.
//
// It takes them from files alone: a command line is everybody's to see.
package secret

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// FirstLine reads the first line of a file, or of in for "-". flag is what
// named the file, for errors; a line that is empty is one.
func FirstLine(in io.Reader, flag, path string) (string, error) {
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return "", fmt.Errorf("%s: %w", flag, err)
		}
		defer f.Close()
		in = f
	}
	line, err := bufio.NewReader(in).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("%s %s: %w", flag, path, err)
	}
	if line = strings.TrimRight(line, "\r\n"); line == "" {
		return "", fmt.Errorf("%s %s: expected the secret in its first line, found an empty one", flag, path)
	}
	return line, nil
}
