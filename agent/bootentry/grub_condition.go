package bootentry

import (
	"errors"
	"fmt"
	"strconv"
)

// test runs GRUB's test and [. A value that is not known makes the end unknown.
func (g *grub) test(name string, args []grubValue) (outcome, error) {
	if name == "[" {
		if n := len(args); n == 0 || args[n-1].text != "]" {
			return no, errors.New("[ without ]")
		}
		args = args[:len(args)-1]
	}
	texts, err := known(args)
	if err != nil {
		return unknown, nil //nolint:nilerr // the end is unknown: its error
	}
	t := grubTest{g: g, words: texts}
	is, err := t.or()
	if err == nil && len(t.words) > 0 {
		err = fmt.Errorf("found %q in an unexpected place", t.words[0])
	}
	if err != nil {
		return no, fmt.Errorf("%s: %w", name, err)
	}
	if is {
		return yes, nil
	}
	return no, nil
}

// grubTest reads a condition.
type grubTest struct {
	g     *grub
	words []string
	depth int
}

func (t *grubTest) take() string {
	w := t.words[0]
	t.words = t.words[1:]
	return w
}

func (t *grubTest) next(word string) bool {
	if len(t.words) == 0 || t.words[0] != word {
		return false
	}
	t.words = t.words[1:]
	return true
}

func (t *grubTest) or() (bool, error) {
	is, err := t.and()
	for err == nil && t.next("-o") {
		var other bool
		other, err = t.and()
		is = is || other
	}
	return is, err
}

func (t *grubTest) and() (bool, error) {
	is, err := t.not()
	for err == nil && t.next("-a") {
		var other bool
		other, err = t.not()
		is = is && other
	}
	return is, err
}

func (t *grubTest) not() (bool, error) {
	if t.depth++; t.depth > maxNested {
		return false, fmt.Errorf("it nests deeper than %d", maxNested)
	}
	defer func() { t.depth-- }()
	if len(t.words) > 0 && t.words[0] == "!" && (len(t.words) < 3 || !t.comparison(t.words[1])) {
		t.take()
		is, err := t.not()
		return !is, err
	}
	if t.next("(") {
		is, err := t.or()
		if err == nil && !t.next(")") {
			err = errors.New("( without )")
		}
		return is, err
	}
	return t.simple()
}

func (t *grubTest) comparison(word string) bool {
	switch word {
	case "=", "==", "!=", "-eq", "-ne", "-lt", "-le", "-gt", "-ge":
		return true
	}
	return false
}

// simple reads a comparison, a question about a file or text, or a text alone.
func (t *grubTest) simple() (bool, error) {
	if len(t.words) == 0 {
		return false, nil
	}
	if len(t.words) >= 3 && t.comparison(t.words[1]) {
		return compare(t.take(), t.take(), t.take())
	}
	first := t.take()
	switch {
	case len(t.words) == 0 || len(first) != 2 || first[0] != '-':
		return first != "", nil
	case first == "-n":
		return t.take() != "", nil
	case first == "-z":
		return t.take() == "", nil
	case first == "-e" || first == "-f" || first == "-s" || first == "-d":
		return t.g.isFile(first, t.take())
	}
	return false, fmt.Errorf("the operator %s, of unknown effect", first)
}

// compare compares texts or numbers.
func compare(a, operator, b string) (bool, error) {
	switch operator {
	case "=", "==":
		return a == b, nil
	case "!=":
		return a != b, nil
	}
	m, errA := strconv.ParseInt(a, 10, 64)
	n, errB := strconv.ParseInt(b, 10, 64)
	if errA != nil || errB != nil {
		return false, fmt.Errorf("%q %s %q: expected numbers", a, operator, b)
	}
	return map[string]bool{"-eq": m == n, "-ne": m != n, "-lt": m < n, "-le": m <= n, "-gt": m > n,
			"-ge": m >= n}[operator],
		nil
}
