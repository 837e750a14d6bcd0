package serve

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/internal/flaggroup"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/internal/siteconfig"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// onlyByFlag are the settings that the file must not have, with the reason.
var onlyByFlag = map[string]string{
	"config": "a file cannot name another one: remove the line, and use --config or FERRITE_CONFIG",
	"check":  "no start would serve: remove the line, and use --check for a trial",
}

// readSources sets the fields of all settings that no flag has set: from FERRITE_ variables, or else from the file of
// --config. Each fault names the variable, or the file and its key.
func (s *settings) readSources() error {
	var faults []error
	open := map[string]*pflag.Flag{} // to the file
	var known []string
	s.VisitAll(func(f *pflag.Flag) {
		if flaggroup.Of(f) == "" {
			return // --help
		}
		known = append(known, f.Name)
		variable, text := siteconfig.Env(f.Name)
		switch {
		case f.Changed:
		case text == "":
			open[f.Name] = f
		default:
			if err := setText(f, text); err != nil {
				faults = append(faults, fmt.Errorf("%s: %w", variable, err))
			}
		}
	})
	path := s.Lookup("config").Value.String()
	if path == "" {
		return errors.Join(faults...)
	}
	values, err := siteconfig.Read(path)
	if err != nil {
		return errors.Join(append(faults, err)...)
	}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if err := setKey(key, values[key], known, open[key]); err != nil {
			faults = append(faults, fmt.Errorf("configuration file %s: %w", path, err))
		}
	}
	return errors.Join(faults...)
}

// setKey sets a field to a value of the file; nil for a field that a flag or a variable has set.
func setKey(key string, value yaml.Node, known []string, f *pflag.Flag) error {
	if !slices.Contains(known, key) {
		return fmt.Errorf("unknown setting %q%s; `ferrite serve --help-all` lists them", key,
			nodeapi.DidYouMean(key, known))
	}
	err := error(nil)
	if reason := onlyByFlag[key]; reason != "" {
		err = errors.New(reason)
	} else if f != nil {
		err = setNode(f, &value)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	return nil
}

// setNode sets a field to a value of the file. A list is as a flag that is given more than once.
func setNode(f *pflag.Flag, n *yaml.Node) error {
	n = siteconfig.Meant(n)
	if n.Kind != yaml.SequenceNode {
		text, err := siteconfig.Scalar(n)
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
		if items[i], err = line(siteconfig.Meant(item)); err != nil {
			return err
		}
	}
	return to.Replace(items)
}

// line is an item of a list. A map is the words KEY=VALUE, as of a subnet.
func line(n *yaml.Node) (string, error) {
	if n.Kind != yaml.MappingNode {
		return siteconfig.Scalar(n)
	}
	var words []string
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i].Value, siteconfig.Meant(n.Content[i+1])
		values := []*yaml.Node{value}
		if value.Kind == yaml.SequenceNode {
			values = value.Content
		}
		texts := make([]string, len(values))
		for i, v := range values {
			var err error
			if texts[i], err = siteconfig.Scalar(v); err != nil {
				return "", fmt.Errorf("%s: %w", key, err)
			}
		}
		words = append(words, key+"="+strings.Join(texts, ","))
	}
	return strings.Join(words, " "), nil
}

// setText sets a field to a text as of a flag. None is the zero of its type.
func setText(f *pflag.Flag, text string) error {
	value := text
	switch kind := f.Value.Type(); {
	case kind == "stringArray":
		items, _ := f.Value.(pflag.SliceValue)
		if text == "" {
			return items.Replace(nil)
		}
		return items.Replace(strings.Split(text, ";")) // an item may have commas
	case kind == "bool" && text == "":
		value = "false"
	case (kind == "int" || kind == "duration") && text == "":
		value = "0"
	}
	if err := f.Value.Set(value); err != nil {
		return fmt.Errorf("invalid value %q: %w", text, err)
	}
	return nil
}
