package siteconfig

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/ferrite-metal/ferrite/proto/onedocument"
)

// Values are the settings of a file by their keys. They are nodes, since a text such as 007 stays as it is written.
type Values map[string]yaml.Node

// Read reads a configuration file. An error names the file. ferrite serve checks the keys and values.
func Read(path string) (values Values, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("configuration file: %w", err)
	}
	if err = onedocument.Check(text); err == nil {
		err = yaml.Unmarshal(text, &values)
	}
	if err != nil {
		return nil, fmt.Errorf("configuration file %s: %w", path, err)
	}
	return values, nil
}

// text is the value of a key; "" where it has none, or a map or a list.
func (v Values) text(key string) string {
	value := v[key]
	text, _ := Scalar(&value)
	return text
}

// Meant is the value that an alias stands for.
func Meant(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// Scalar is a value as the file has it, without quotes; "" for null.
func Scalar(n *yaml.Node) (string, error) {
	n = Meant(n)
	switch {
	case n.Kind != yaml.ScalarNode:
		return "", errors.New("expected one value, found a map or a list")
	case n.ShortTag() == "!!null":
		return "", nil
	}
	return n.Value, nil
}

// Env is the environment variable of a key, and its text. An empty variable counts as none, as of FERRITE_URL.
func Env(key string) (variable, text string) {
	variable = "FERRITE_" + strings.ToUpper(strings.ReplaceAll(key, "-", "_"))
	return variable, os.Getenv(variable)
}
