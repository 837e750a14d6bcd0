package output

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestFitted: a table fits the terminal by wrapping between words. Words stay whole, and columns without text go.
func TestFitted(t *testing.T) {
	rows := [][]string{
		{"web-1", "", "active", "the disk is too small: 1073741824 bytes"},
		{"web-2", "", "clean failed", "http://images.example.org/very-long-name-of-an-image.qcow2 is not there"},
	}
	for _, c := range []struct {
		screen Screen
		want   string
	}{
		{Screen{}, `NAME    LAST STATE     PROBLEM
web-1   active         the disk is too small: 1073741824 bytes
web-2   clean failed   http://images.example.org/very-long-name-of-an-image.qcow2 is not there`},
		{Screen{Columns: 40}, `NAME    LAST STATE     PROBLEM
web-1   active         the disk is too small: 1073741824 bytes
web-2   clean failed   http://images.example.org/very-long-name-of-an-image.qcow2 is not there`},
		{Screen{Columns: 85}, `NAME    LAST STATE     PROBLEM
web-1   active         the disk is too small: 1073741824 bytes
web-2   clean failed   http://images.example.org/very-long-name-of-an-image.qcow2 is
                       not there`},
		{Screen{Columns: 60}, `NAME    LAST STATE     PROBLEM
web-1   active         the disk is too small: 1073741824
                       bytes
web-2   clean failed   http://images.example.org/very-long-name-of-an-image.qcow2
                       is not there`},
	} {
		f := NewTable("name", "nothing", "last_state", "problem")
		f.sparse = true
		for _, r := range rows {
			f.Row(r...)
		}
		if diff := cmp.Diff(c.want, f.render(c.screen)); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", c.screen, diff)
		}
	}
}

// TestGrid: the lines of a list that grows are cut at the edge of a terminal.
func TestGrid(t *testing.T) {
	columns := []GridColumn{{Name: "name"}, {Name: "problem"}}
	row := GridRow{Cells: []any{"web-1", "its disk is too small"}}
	for width, want := range map[int]string{
		0:  "NAME    PROBLEM\nweb-1   its disk is too small\n",
		20: "NAME    PROBLEM\nweb-1   its disk ...\n",
	} {
		var got stringWriter
		if err := (&Grid{Columns: width}).Show(&got, columns, []GridRow{row}); err != nil || string(got) != want {
			t.Errorf("%d columns: %v\n%s", width, err, got)
		}
	}
}

// TestWrap: texts wrap at blanks, with continuation lines indented; long words stay whole.
func TestWrap(t *testing.T) {
	const text = "m1    0.0 s  service hold: deploy.hold\n  try: http://images.example.org/long word"
	want := "m1    0.0 s  service\n    hold: deploy.hold\n  try: http://images.example.org/long\n      word"
	if got := (Screen{Columns: 22}).Wrap(text); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if got := (Screen{}).Wrap(text); got != text {
		t.Errorf("without a terminal: %s", got)
	}
}

// TestColours: cells have colours by their column, or by the name of their row, on a screen that shows them.
func TestColours(t *testing.T) {
	for _, c := range []struct{ name, cell, want string }{
		{"state", "clean failed", "\x1b[31mclean failed\x1b[0m"},
		{"provision_state", "active", "\x1b[32mactive\x1b[0m"},
		{"name", "active", "active"},
		{"state", "manageable", "manageable"},
		{"state", "", ""},
	} {
		if got := (Screen{Colour: true}).coloured(c.name, c.cell); got != c.want {
			t.Errorf("%s %s: %q, want %q", c.name, c.cell, got, c.want)
		}
		if got := (Screen{}).coloured(c.name, c.cell); got != c.cell {
			t.Errorf("%s without colours: %q", c.cell, got)
		}
	}
}

// TestTemplate: paths as kubectl writes them, and paths of RFC 9535.
func TestTemplate(t *testing.T) {
	reply := json.RawMessage(`[{"name":"a","size":1,"extra":{"rack":"7"}},{"name":"b\u001b","size":2}]`)
	for template, want := range map[string]string{
		`{[*].name}`:                            "a b\\x1b\n",
		`{.[0].extra.rack}`:                     "7\n",
		`{range [*]}{.name}={.size}{"\n"}{end}`: "a=1\nb\\x1b=2\n",
		`{$[?@.size==2].name}`:                  "b\\x1b\n",
		`{[0].extra}`:                           "{\"rack\":\"7\"}\n",
		`{[*].nothing}`:                         "\n",
		`{range [*]}{.name}{range .extra[*]}!{end}{end}`: "a!b\\x1b\n",
	} {
		var got stringWriter
		if err := printTemplate(&got, template, reply); err != nil || string(got) != want {
			t.Errorf("%s: %q, want %q (%v)", template, got, want, err)
		}
	}
	for _, bad := range []string{`{.name`, `{range [*]}x`, `x{end}`, `{[}`, `{"x}`, `{range [*]}{range .x}{end}`,
		`{[0].nothing}`, `{.name}`} {
		var got stringWriter
		if err := printTemplate(&got, bad, reply); err == nil {
			t.Errorf("%s: no error, and %q", bad, got)
		}
	}
}

type stringWriter []byte

func (w *stringWriter) Write(b []byte) (int, error) { *w = append(*w, b...); return len(b), nil }

// FuzzTemplate: no template panics, and none writes anything a terminal would obey.
func FuzzTemplate(f *testing.F) {
	for _, seed := range []string{`{.name}`, `{range [*]}{.a}{end}`, `{"\x1b"}`, `}{`, `{[?@.a=="}"]}`, "{$..*}"} {
		f.Add(seed)
	}
	reply := json.RawMessage(`[{"name":"a","b":["\u001b[2J"]}]`)
	f.Fuzz(func(t *testing.T, template string) {
		var got stringWriter
		if printTemplate(&got, template, reply) == nil && Visible(string(got)) != string(got) {
			t.Errorf("%q writes %q", template, got)
		}
	})
}

// TestFlow: paragraphs with a line that is too long are broken anew, others and indented lines stay.
func TestFlow(t *testing.T) {
	const text = "one two three\nfour five\n\nshort\nlines\n\n  an indented line\n  averyverylongword and\nend"
	want := "one two\nthree four\nfive\n\nshort\nlines\n\n" +
		"  an indented\n      line\n  averyverylongword\n      and\nend"
	if got := (Screen{Columns: 12}).Flow(text); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := (Screen{}).Flow(text); got != text {
		t.Errorf("without a screen: %q", got)
	}
}
