package output

import (
	"io"
	"os"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
	"golang.org/x/term"
)

// Screen is where texts for people go.
type Screen struct {
	Columns int  // 0 for any number: a file or a pipe
	Colour  bool // it shows colours
}

// usualColumns is the width for a terminal that does not report one.
const usualColumns = 80

// ScreenOf looks at a writer. Colours can be switched off with NO_COLOR (https://no-color.org), and so they are where
// TERM is dumb.
func ScreenOf(w io.Writer) Screen {
	file, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return Screen{}
	}
	columns, _, err := term.GetSize(int(file.Fd()))
	if err != nil || columns <= 0 {
		columns = usualColumns
	}
	return Screen{Columns: columns, Colour: os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"}
}

// Wrap breaks lines at blanks where they are longer than the screen, and indents the continuation lines.
func (s Screen) Wrap(text string) string {
	const indent = "    "
	if s.Columns <= 2*len(indent) {
		return text
	}
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		begin := line[:len(line)-len(strings.TrimLeft(line, " "))] + indent
		for len([]rune(line)) > s.Columns {
			at := strings.LastIndex(string([]rune(line)[:s.Columns+1]), " ")
			if at <= len(begin) { // a long word stays whole
				after := strings.IndexByte(line[max(at+1, len(begin)-len(indent)):], ' ')
				if after < 0 {
					break
				}
				at = max(at+1, len(begin)-len(indent)) + after
			}
			lines = append(lines, strings.TrimRight(line[:at], " "))
			line = begin + strings.TrimLeft(line[at:], " ")
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// Flow breaks the paragraphs of a text anew where one has a line that is longer than the screen. Lines that begin with
// a blank stay lines.
func (s Screen) Flow(text string) string {
	if s.Columns == 0 {
		return text
	}
	var lines, paragraph []string
	end := func() {
		joined := strings.Join(paragraph, "\n")
		if slices.ContainsFunc(paragraph, func(l string) bool { return len([]rune(l)) > s.Columns }) {
			joined = wrapWords(strings.Join(paragraph, " "), s.Columns)
		}
		if len(paragraph) > 0 {
			lines = append(lines, joined)
		}
		paragraph = nil
	}
	for line := range strings.SplitSeq(text, "\n") {
		if line != "" && !strings.HasPrefix(line, " ") {
			paragraph = append(paragraph, line)
			continue
		}
		end()
		lines = append(lines, line)
	}
	end()
	return s.Wrap(strings.Join(lines, "\n"))
}

// Beside breaks a text that stands beside a label, indent columns from the left, and indents the continuation lines.
func (s Screen) Beside(text string, indent int) string {
	const least = 20 // a narrower column could not be read
	if s.Columns >= indent+least {
		text = wrapWords(text, s.Columns-indent)
	}
	return strings.ReplaceAll(text, "\n", "\n"+strings.Repeat(" ", indent))
}

// coloursOf are the colours of cells, by the name of their column or row. The first text that fits counts.
var coloursOf = map[string][]struct {
	ending string
	colour text.Color
}{
	"state":      stateColours,
	"status":     stateColours,
	"power":      {{"power on", text.FgGreen}, {"on", text.FgGreen}, {"error", text.FgRed}},
	"health":     {{"OK", text.FgGreen}, {"Warning", text.FgYellow}, {"Critical", text.FgRed}},
	"works":      {{"yes", text.FgGreen}, {"no", text.FgRed}},
	"last error": {{"", text.FgRed}},
	"try":        {{"", text.FgCyan}},
}

var stateColours = []struct {
	ending string
	colour text.Color
}{
	{" failed", text.FgRed}, {"error", text.FgRed}, {" hold", text.FgYellow}, {"rescue", text.FgYellow},
	{"active", text.FgGreen}, {"available", text.FgGreen}, {"provisioned", text.FgGreen}, {"ing", text.FgCyan},
	{" wait", text.FgCyan}, {"wait call-back", text.FgCyan},
}

// coloured is a cell of a screen in its colour.
func (s Screen) coloured(name, cell string) string {
	name = strings.ReplaceAll(strings.TrimPrefix(name, "provision_"), "_", " ")
	if !s.Colour || cell == "" || strings.Contains(cell, "\n") {
		return cell
	}
	for _, c := range coloursOf[name] {
		if strings.HasSuffix(cell, c.ending) {
			return c.colour.Sprint(cell)
		}
	}
	return cell
}
