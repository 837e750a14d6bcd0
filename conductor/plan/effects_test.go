package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// TestEffectRows: a row is of a run or a chore, and the page about effects has the table.
func TestEffectRows(t *testing.T) {
	table := &strings.Builder{}
	fmt.Fprintln(table, "| effect | of | tried | where an earlier attempt may have carried it out |\n|---|---|---|---|")
	for _, name := range Effects() {
		row := effects[name]
		if (row.chore == nil) == (row.settle == nil) || row.chore != nil && (row.replan != nil || row.needs != nil) {
			t.Errorf("%s: a row has either settle, which needs and replan may go with, or chore", name)
		}
		if row.again == "" {
			t.Errorf("%s: the row does not say how it is carried out again", name)
		}
		of := "a run"
		if row.chore != nil {
			of = "a chore"
		}
		fmt.Fprintf(table, "| `%s` | %s | %s | %s |\n", name, of, triesText[row.tries], row.again)
	}
	const page, begin = "../../docs/design/effects.md", "<!-- generated: effects -->\n"
	const end = "<!-- end of generated: effects -->"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(text), begin)
	old, tail, ok2 := strings.Cut(rest, end)
	switch {
	case !ok || !ok2:
		t.Fatalf("%s has no place for the table of effects", page)
	case *update:
		if err := os.WriteFile(page, []byte(head+begin+table.String()+end+tail), 0o644); err != nil {
			t.Fatal(err)
		}
	case old != table.String():
		t.Errorf("%s has another table than effects.go (-update rewrites it)", page)
	}
}

var triesText = map[tries]string{usual: "as configured", once: "once", twice: "twice",
	asAsked:       "as asked; three times as often while the BMC or the machine starts",
	patient:       "three times as often while the BMC or the machine starts",
	unlessRefused: "three times as often, unless the BMC refuses", long: "three times as often"}

// argsFit returns an error unless the args of an effect have the type in its row.
func argsFit(ef node.Effect) error {
	row, ok := effects[ef.Name]
	if !ok {
		return fmt.Errorf("%s has no row", ef.Name)
	}
	if row.args == nil {
		if text := string(ef.Args); text != "null" {
			return fmt.Errorf("%s has the args %s, expected none", ef.Name, text)
		}
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(ef.Args))
	d.DisallowUnknownFields()
	if err := d.Decode(reflect.New(reflect.TypeOf(row.args)).Interface()); err != nil {
		return fmt.Errorf("%s has the args %s: %w", ef.Name, ef.Args, err)
	}
	return nil
}
