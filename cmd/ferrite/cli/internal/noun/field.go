package noun

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/exit"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/flags"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/nodes"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/internal/secret"
)

// Field is a field of a record with a flag.
type Field struct {
	Name     string
	Flag     string // the name with dashes when empty
	Help     string
	Kind     Kind   // nil: of the type of Value
	Value    any    // default: true, false or 0; nil for a text
	Only     string // method that it is for; "" for any
	Required bool   // except of PATCH; cannot be removed
	Keys     bool   // an object: unset removes keys of it
	// Complete adds the fields that people may omit to an object of a list. place counts from 0.
	Complete func(place int, object map[string]any)
}

// Extra is the field that nearly every record has.
var Extra = Field{Name: "extra", Kind: Object, Keys: true, Help: "KEY=VALUE for your own use; repeat it"}

// UUID is the UUID of a new record.
var UUID = Field{Name: "uuid", Only: http.MethodPost, Help: "UUID, generated when left out"}

// OfNode is the machine of a record.
var OfNode = Field{Name: "node_uuid", Flag: "node", Kind: Node, Required: true, Help: "machine that it belongs to"}

func (f Field) flag() string { return cmp.Or(f.Flag, strings.ReplaceAll(f.Name, "_", "-")) }

// Flags are the flags of fields on a command.
type Flags map[string]read

// read adds the value of a used flag to the values given.
type read func(cmd *cobra.Command, s *client.Session, g *Given) error

// AddFlags adds the flags of the fields that are for a method.
func AddFlags(cmd *cobra.Command, method string, fields []Field) Flags {
	flags := Flags{}
	for _, f := range fields {
		if f.Only == "" || f.Only == method {
			flags[f.flag()] = f.add(cmd, method)
		}
	}
	return flags
}

// Read reads the flags in use.
func (f Flags) Read(cmd *cobra.Command, s *client.Session) (g Given, err error) {
	g = Given{Plain: map[string]any{}, Objects: map[string]map[string]any{}}
	for _, flag := range output.Sorted(f) {
		if cmd.Flags().Changed(flag) {
			if err := f[flag](cmd, s, &g); err != nil {
				return g, err
			}
		}
	}
	return g, nil
}

// Kind adds the flag of a field to a command, and reads it.
type Kind func(cmd *cobra.Command, f Field) read

// add adds the flag of a field to a command. Without a Kind it is a text, or of the type of Value.
func (f Field) add(cmd *cobra.Command, method string) read {
	if f.Required && method != http.MethodPatch {
		defer func() { client.Must(cmd.MarkFlagRequired(f.flag())) }()
	}
	if f.Kind != nil {
		return f.Kind(cmd, f)
	}
	switch value := f.Value.(type) {
	case bool:
		return plain(f, cmd.Flags().Bool(f.flag(), value, f.Help))
	case int:
		return plain(f, cmd.Flags().Int(f.flag(), value, f.Help))
	}
	return plain(f, f.text(cmd))
}

func (f Field) text(cmd *cobra.Command) *string {
	usual, _ := f.Value.(string)
	return cmd.Flags().String(f.flag(), usual, f.Help)
}

func plain[T any](f Field, value *T) read {
	return func(_ *cobra.Command, _ *client.Session, g *Given) error {
		g.Plain[f.Name] = *value
		return nil
	}
}

// Not is a flag without a value, for false.
func Not(cmd *cobra.Command, f Field) read {
	is := cmd.Flags().Bool(f.flag(), false, f.Help)
	return func(_ *cobra.Command, _ *client.Session, g *Given) error {
		g.Plain[f.Name] = !*is
		return nil
	}
}

// Object is KEY=VALUE, repeated. Values are JSON or text.
func Object(cmd *cobra.Command, f Field) read { return f.pairs(cmd, output.JsonOrText) }

// TextPairs is as Object, with numbers as text.
func TextPairs(cmd *cobra.Command, f Field) read { return f.pairs(cmd, output.MostlyText) }

func (f Field) pairs(cmd *cobra.Command, value func(string) any) read {
	args := cmd.Flags().StringArray(f.flag(), nil, f.Help)
	return func(_ *cobra.Command, _ *client.Session, g *Given) (err error) {
		g.Objects[f.Name], err = output.Pairs(f.flag(), *args, value)
		return err
	}
}

// Secrets is KEY=FILE, repeated: a value is the first line of its file, since a command line is everybody's to see.
func Secrets(cmd *cobra.Command, f Field) read {
	args := cmd.Flags().StringArray(f.flag(), nil, f.Help)
	return func(cmd *cobra.Command, _ *client.Session, g *Given) error {
		for _, a := range *args {
			key, path, ok := strings.Cut(a, "=")
			if !ok || key == "" || path == "" {
				return exit.Usage(fmt.Errorf("--%s %q: expected KEY=FILE", f.flag(), a))
			}
			object := g.Objects[f.Name]
			if _, twice := object[key]; twice {
				return exit.Usage(fmt.Errorf("--%s: %s is given twice: leave one out", f.flag(), key))
			}
			text, err := secret.FirstLine(cmd.InOrStdin(), "--"+f.flag()+" "+key, path)
			if err != nil {
				return err
			}
			if object == nil {
				object = map[string]any{}
				g.Objects[f.Name] = object
			}
			object[key] = text
		}
		return nil
	}
}

// Texts is a list of texts: the flag repeated.
func Texts(cmd *cobra.Command, f Field) read {
	return plain(f, cmd.Flags().StringArray(f.flag(), nil, f.Help))
}

// parsed reads a flag that is a text on the command line. An empty text is as no flag.
func (f Field) parsed(cmd *cobra.Command, into func(cmd *cobra.Command, s *client.Session, g *Given,
	text string) error) read {
	text := f.text(cmd)
	return func(cmd *cobra.Command, s *client.Session, g *Given) error {
		if *text == "" {
			return nil
		}
		return into(cmd, s, g, *text)
	}
}

// JSON is any value, as JSON.
func JSON(cmd *cobra.Command, f Field) read {
	return f.parsed(cmd, func(_ *cobra.Command, _ *client.Session, g *Given, text string) error {
		var value any
		if err := json.Unmarshal([]byte(text), &value); err != nil {
			return fmt.Errorf("--%s: not JSON: %w", f.flag(), err)
		}
		g.Plain[f.Name] = value
		return nil
	})
}

// Objects is a list of objects: JSON, or a file.
func Objects(cmd *cobra.Command, f Field) read {
	return f.parsed(cmd, func(_ *cobra.Command, _ *client.Session, g *Given, text string) error {
		list, err := flags.ReadList(f.flag(), text)
		for i, item := range list {
			if object, ok := item.(map[string]any); ok && f.Complete != nil {
				f.Complete(i, object)
			}
		}
		g.Plain[f.Name] = list
		return err
	})
}

// Node is the name of a node, for its UUID.
func Node(cmd *cobra.Command, f Field) read {
	return f.parsed(cmd, func(cmd *cobra.Command, s *client.Session, g *Given, text string) error {
		n, err := nodes.GetNode(cmd.Context(), s, text, "uuid")
		g.Plain[f.Name] = n.UUID
		return err
	})
}

// Whole is the whole body: JSON, or a file.
func Whole(cmd *cobra.Command, f Field) read {
	return f.parsed(cmd, func(_ *cobra.Command, _ *client.Session, g *Given, text string) (err error) {
		g.whole, err = flags.ReadObject(f.flag(), text)
		return err
	})
}

// Method is the method of the request.
func Method(cmd *cobra.Command, f Field) read {
	return f.parsed(cmd, func(_ *cobra.Command, _ *client.Session, g *Given, text string) error {
		g.method = strings.ToUpper(text)
		return nil
	})
}
