package serve

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/internal/flaggroup"
	"github.com/ferrite-metal/ferrite/conductor/server/reload"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// read sets the fields of all settings that no flag has set: from FERRITE_ variables, or else from the file of
// --config. An error names the variable, or the file and its key.
func (s *settings) read() error {
	var faults []error
	open := map[string]*pflag.Flag{} // to the file
	var known []string
	s.VisitAll(func(f *pflag.Flag) {
		if flaggroup.Of(f) == "" {
			return // --help
		}
		known = append(known, f.Name)
		variable := "FERRITE_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
		if text, set := os.LookupEnv(variable); set && !f.Changed {
			if err := setText(f, text); err != nil {
				faults = append(faults, fmt.Errorf("%s: %w", variable, err))
			}
		} else if !f.Changed {
			open[f.Name] = f
		}
	})
	path := s.Lookup("config").Value.String()
	values, err := valuesOf(path)
	if err != nil {
		return fmt.Errorf("configuration file %s: %w", path, err)
	}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		value := values[key]
		if !slices.Contains(known, key) {
			near := nodeapi.Closest(key, known)
			if near != "" {
				near = fmt.Sprintf(" (did you mean %s?)", near)
			}
			return fmt.Errorf("configuration file %s: unknown setting %q%s; `ferrite serve --help-all` lists them", path, key,
				near)
		}
		if f := open[key]; f != nil {
			if err := setNode(f, &value); err != nil {
				faults = append(faults, fmt.Errorf("configuration file %s: %s: %w", path, key, err))
			}
		}
	}
	return errors.Join(faults...)
}

// valuesOf reads a YAML file; "" has none.
func valuesOf(path string) (values map[string]yaml.Node, err error) {
	if path == "" {
		return nil, nil
	}
	text, err := os.ReadFile(path)
	if err == nil {
		err = reload.OneDocument(text)
	}
	if err == nil {
		err = yaml.Unmarshal(text, &values)
	}
	return values, err
}

// setNode sets a field to a value of the file. A list is as a flag that is given more than once.
func setNode(f *pflag.Flag, n *yaml.Node) error {
	n = meant(n)
	if n.Kind != yaml.SequenceNode {
		text, err := scalar(n)
		if err != nil {
			return err
		}
		return setText(f, text)
	}
	to, is := f.Value.(pflag.SliceValue)
	if !is {
		return errors.New("expected one value, found a list")
	}
	items := make([]string, len(n.Content))
	for i, item := range n.Content {
		var err error
		if items[i], err = line(meant(item)); err != nil {
			return err
		}
	}
	return to.Replace(items)
}

// line is an item of a list. A map is the words KEY=VALUE, as of a subnet.
func line(n *yaml.Node) (string, error) {
	if n.Kind != yaml.MappingNode {
		return scalar(n)
	}
	var words []string
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i].Value, meant(n.Content[i+1])
		values := []*yaml.Node{value}
		if value.Kind == yaml.SequenceNode {
			values = value.Content
		}
		texts := make([]string, len(values))
		for i, v := range values {
			var err error
			if texts[i], err = scalar(meant(v)); err != nil {
				return "", fmt.Errorf("%s: %w", key, err)
			}
		}
		words = append(words, key+"="+strings.Join(texts, ","))
	}
	return strings.Join(words, " "), nil
}

// meant is the value that an alias stands for.
func meant(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// scalar is a value as the file has it, without quotes; "" for null.
func scalar(n *yaml.Node) (string, error) {
	switch {
	case n.Kind != yaml.ScalarNode:
		return "", errors.New("expected one value, found a map or a list")
	case n.ShortTag() == "!!null":
		return "", nil
	}
	return n.Value, nil
}

// days are the days at the beginning of a duration, which time.ParseDuration does not know.
var days = regexp.MustCompile(`^[0-9]+d`)

// setText sets a field to a text as of a flag. None is the zero of its type; durations may begin with days.
func setText(f *pflag.Flag, text string) error {
	value := text
	switch kind := f.Value.Type(); {
	case kind == "stringArray":
		items, _ := f.Value.(pflag.SliceValue)
		return items.Replace(strings.Split(text, ";")) // an item may have commas
	case kind == "bool" && text == "":
		value = "false"
	case kind == "int" && text == "":
		value = "0"
	case kind == "duration":
		value = days.ReplaceAllStringFunc(text, func(d string) string {
			n, _ := strconv.Atoi(strings.TrimSuffix(d, "d"))
			return strconv.Itoa(24*n) + "h"
		})
	}
	if err := f.Value.Set(value); err != nil {
		return fmt.Errorf("invalid value %q: %w", text, err)
	}
	return nil
}
