package setup

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/ferrite-metal/ferrite/pxe/dhcp"
)

// questions asks a person on a terminal for the values that no flag has set.
type questions struct {
	in    *os.File
	out   io.Writer
	asked func(flag string) bool // the flag was given
}

// ask fills in the answers. An empty line takes the value in brackets.
func (q questions) ask(a *answers) error {
	lines := bufio.NewReader(q.in)
	for _, step := range []struct {
		flag     string
		question func() (text, otherwise string)
		into     *string
		skip     func() bool
	}{
		{"interface", func() (string, string) {
			return "Interface that machines boot from, empty for no boot service; this host has " +
				interfaces(), ""
		}, &a.Interface, nil},
		{"api-address", func() (string, string) {
			return "Address and port of the API", a.defaultAddress()
		}, &a.APIAddress, nil},
		{"pool", func() (string, string) {
			return "Addresses to give to machines, as first-last", defaultPool(a.Interface)
		}, &a.Pool, func() bool { return a.Interface == "" || a.DHCP != "" && a.DHCP != "full" }},
		{"router", func() (string, string) { return "Router of the machines, empty for none", "" }, &a.Router,
			func() bool { return a.Interface == "" || a.DHCP != "" && a.DHCP != "full" }},
		{"admin", func() (string, string) { return "Name of the first admin", a.Admin }, &a.Admin, nil},
	} {
		if q.asked(step.flag) || step.skip != nil && step.skip() {
			continue
		}
		text, otherwise := step.question()
		answer, err := q.line(lines, text, otherwise)
		if err != nil {
			return err
		}
		*step.into = answer
	}
	if q.asked("admin-password-file") {
		return nil
	}
	return q.password(a)
}

// line asks for one line.
func (q questions) line(lines *bufio.Reader, text, otherwise string) (string, error) {
	if otherwise != "" {
		text += " [" + otherwise + "]"
	}
	fmt.Fprint(q.out, text+": ")
	line, err := lines.ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("%s: no answer: %w", text, err)
	}
	if line = strings.TrimSpace(line); line == "" {
		return otherwise, nil
	}
	return line, nil
}

// password asks for the admin's password, which the terminal does not show.
func (q questions) password(a *answers) error {
	fmt.Fprintf(q.out, "Password of %s, empty to have one made (of an existing user: to keep it): ", a.Admin)
	raw, err := term.ReadPassword(int(q.in.Fd()))
	fmt.Fprintln(q.out)
	if err != nil {
		return fmt.Errorf("password: %w", err)
	}
	a.password = string(raw)
	return nil
}

// defaultAddress is the API's address unless the operator sets another one.
func (a *answers) defaultAddress() string {
	if p, err := addressOf(a.Interface); err == nil {
		return p.Addr().String() + ":" + apiPort
	}
	return "127.0.0.1:" + apiPort
}

// defaultPool is the upper half of an interface's network, as ferrite serve takes it; "" where that is too small, or
// larger than a pool may be.
func defaultPool(name string) string {
	p, err := addressOf(name)
	if err != nil || p.Bits() > 29 || p.Bits() < 16 {
		return ""
	}
	first, last := dhcp.UpperHalf(p)
	return first.String() + "-" + last.String()
}
