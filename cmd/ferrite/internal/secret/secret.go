// Package secret reads passwords and tokens that people give a command.
//
// It takes them from files and terminals alone: a command line is everybody's to see.
package secret

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// FirstLine reads the first line of a file, or of in for "-"; a terminal is asked, and does not show it. flag names the
// source of the path in errors. An empty line is an error.
func FirstLine(in io.Reader, flag, path string) (string, error) {
	if f, ok := in.(*os.File); ok && path == "-" && term.IsTerminal(int(f.Fd())) {
		fmt.Fprintf(os.Stderr, "%s: ", flag)
		raw, err := term.ReadPassword(int(f.Fd()))
		fmt.Fprintln(os.Stderr)
		if err != nil {
			return "", fmt.Errorf("%s: %w", flag, err)
		}
		in = bytes.NewReader(raw)
	} else if path != "-" {
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

// Ask asks for a secret twice on the terminal, which does not show it. flag names a file in place of the terminal.
func Ask(out io.Writer, what, flag string) (string, error) {
	fd := int(os.Stdin.Fd())
	if !term.IsTerminal(fd) {
		return "", fmt.Errorf("there is no terminal to ask for the %s: use %s", strings.ToLower(what), flag)
	}
	var typed [2]string
	for i, prompt := range []string{what + ": ", "Again: "} {
		fmt.Fprint(out, prompt)
		raw, err := term.ReadPassword(fd)
		fmt.Fprintln(out)
		if err != nil {
			return "", err
		}
		typed[i] = string(raw)
	}
	switch {
	case typed[0] == "":
		return "", fmt.Errorf("an empty %s is none", strings.ToLower(what))
	case typed[0] != typed[1]:
		return "", fmt.Errorf("these are two %ss; nothing was changed", strings.ToLower(what))
	}
	return typed[0], nil
}
