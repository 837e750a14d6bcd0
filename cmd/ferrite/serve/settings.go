package serve

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

// settings declare the settings of a conductor, a row for each: the field that keeps it, its name, its default, its
// help and its bounds. Flags, variables and the file set the field by one pflag.Value.
type settings struct {
	*pflag.FlagSet
	bounds []func() error      // of the rows; each returns the fault of its value
	words  map[string][]string // of settings that have few
}

// bound is the range of a setting. A value out of it is refused with say behind the name and the value.
type bound[T any] struct {
	met func(T) bool
	say string
}

func atLeast[T cmp.Ordered](least T, say string) bound[T] {
	return bound[T]{func(v T) bool { return v >= least }, say}
}

func within[T cmp.Ordered](least, most T, say string) bound[T] {
	return bound[T]{func(v T) bool { return v >= least && v <= most }, say}
}

func orZero[T comparable](b bound[T]) bound[T] {
	var zero T
	return bound[T]{func(v T) bool { return v == zero || b.met(v) }, b.say}
}

// bounded has a value refused that is out of its bounds.
func bounded[T any](s *settings, at *T, name string, bounds []bound[T]) {
	for _, b := range bounds {
		s.bounds = append(s.bounds, func() error {
			if b.met(*at) {
				return nil
			}
			verb := "%v"
			if _, text := any(*at).(string); text {
				verb = "%q"
			}
			return fmt.Errorf("--%s "+verb+"%s", name, *at, b.say)
		})
	}
}

// outOfBounds are the faults of all values by themselves.
func (s *settings) outOfBounds() error {
	var faults []error
	for _, fault := range s.bounds {
		faults = append(faults, fault())
	}
	return errors.Join(faults...)
}

// named is the bound of a text that must not be empty.
func named(say string) bound[string] {
	return bound[string]{func(text string) bool { return text != "" }, say}
}

// hostPort reports whether a text is HOST:PORT.
func hostPort(text string) bool {
	_, _, err := net.SplitHostPort(text)
	return err == nil
}

// textVar declares a text.
func (s *settings) textVar(at *string, name, otherwise, help string, bounds ...bound[string]) {
	s.StringVar(at, name, otherwise, help)
	bounded(s, at, name, bounds)
}

// intVar declares a number.
func (s *settings) intVar(at *int, name string, otherwise int, help string, bounds ...bound[int]) {
	s.IntVar(at, name, otherwise, help)
	bounded(s, at, name, bounds)
}

// durationVar declares a time.
func (s *settings) durationVar(at *time.Duration, name string, otherwise time.Duration, help string,
	bounds ...bound[time.Duration],
) {
	*at = otherwise
	s.Var((*duration)(at), name, help)
	bounded(s, at, name, bounds)
}

// wordVar declares a setting of text that set takes; one of words, if there are any.
func (s *settings) wordVar(set func(string), name, otherwise, help string, words ...string) {
	set(otherwise)
	s.Var(&word{otherwise, words, set}, name, help)
	s.offer(name, words...)
}

// listVar declares a list of texts, from which parse makes the value of the setting.
func listVar[T any](s *settings, at *T, name string, entries *[]string, parse func([]string) (T, error)) {
	s.bounds = append(s.bounds, func() (err error) {
		if *at, err = parse(*entries); err != nil {
			return fmt.Errorf("--%s %w", name, err)
		}
		return nil
	})
}

// eachVar declares a list of texts, each of which must meet a condition; say is behind a refused list.
func (s *settings) eachVar(at *[]string, name string, otherwise []string, help string, met func(string) bool,
	say string) {
	s.StringSliceVar(at, name, otherwise, help)
	bounded(s, at, name, []bound[[]string]{{func(all []string) bool {
		return !slices.ContainsFunc(all, func(one string) bool { return !met(one) })
	}, say}})
}

// oneOf is the condition of a word that is one of these.
func oneOf(words []string) func(string) bool {
	return func(word string) bool { return slices.Contains(words, word) }
}

// offer has a shell's completion offer values.
func (s *settings) offer(name string, words ...string) {
	if len(words) > 0 {
		s.words[name] = words
	}
}

type word struct {
	is    string
	words []string
	set   func(string)
}

func (w *word) String() string { return w.is }
func (w *word) Type() string   { return "string" }

// Set refuses others than words, of which capitals are the same.
func (w *word) Set(text string) error {
	if len(w.words) > 0 {
		if text = strings.ToLower(text); !slices.Contains(w.words, text) {
			return errors.New("say " + strings.Join(w.words, " or "))
		}
	}
	w.is = text
	w.set(text)
	return nil
}
