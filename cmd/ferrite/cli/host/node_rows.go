package host

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/suggest"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// nodeRow is a line of a file of nodes.
type nodeRow struct {
	place        string // file and line
	name, driver string
	macs         []string
	fields       map[string]any // all that the line sets: fields, and OBJECT.KEY
}

func (r *nodeRow) fault(column string, err error) error {
	return fmt.Errorf("%s, column %s: %w", r.place, column, err)
}

// body is the row as a new node.
func (r *nodeRow) body() map[string]any {
	body := map[string]any{}
	for field, value := range r.fields {
		name, key, isKey := strings.Cut(field, ".")
		if !isKey {
			body[field] = value
			continue
		}
		object, ok := body[name].(map[string]any)
		if !ok {
			object = map[string]any{}
			body[name] = object
		}
		object[key] = value
	}
	return body
}

// nodeRows reads a file of comma-separated values (RFC 4180), or with semicolons, as spreadsheets write it where the
// comma is decimal. keys are the keys of driver_info, by driver. It returns all faults.
func nodeRows(file string, text []byte, keys map[string][]string) (rows []*nodeRow, wrong []error) {
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	head, _, _ := bytes.Cut(text, []byte("\n"))
	read := csv.NewReader(bytes.NewReader(text))
	if !bytes.Contains(head, []byte(",")) && bytes.Contains(head, []byte(";")) {
		read.Comma = ';'
	}
	columns, err := read.Read()
	if err == nil && !utf8.Valid(text) {
		err = errors.New("its bytes are no UTF-8")
	}
	if err != nil {
		return nil, []error{fmt.Errorf("%s: expected a table in UTF-8 with the names of fields in its first line: %w", file,
			err)}
	}
	fields := make([]string, len(columns))
	for i, column := range columns {
		columns[i] = strings.TrimSpace(column)
		if fields[i], err = columnField(columns[i], keys); err == nil && slices.Contains(fields[:i], fields[i]) {
			err = errors.New("it stands there twice")
		}
		if err != nil {
			wrong = append(wrong, fmt.Errorf("%s, line 1, column %q: %w", file, columns[i], err))
		}
	}
	for named := len(wrong) == 0; named; {
		cells, err := read.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil { // it names the line itself
			wrong = append(wrong, fmt.Errorf("%s: %w; expected %d columns", file, err, len(columns)))
			if !errors.Is(err, csv.ErrFieldCount) {
				break // a quote without its end: no line after it is certain
			}
			continue
		}
		line, _ := read.FieldPos(0)
		r := &nodeRow{place: fmt.Sprintf("%s, line %d", file, line), fields: map[string]any{}}
		rows = append(rows, r)
		wrong = append(wrong, r.take(columns, fields, cells, keys)...)
	}
	if len(rows) == 0 && len(wrong) == 0 {
		wrong = append(wrong, fmt.Errorf("%s: expected a line for each node after the first, found none", file))
	}
	return rows, wrong
}

// macColumn names the ports of a node.
const macColumn = "mac"

// columnField is the field of a column: of a node, OBJECT.KEY, a key of driver_info, or mac.
func columnField(column string, keys map[string][]string) (string, error) {
	object, key, isKey := strings.Cut(column, ".")
	known := []string{macColumn, "driver", "automated_clean"}
	if slices.Contains(known, column) {
		return column, nil
	}
	for _, f := range nodeapi.NodeFields() {
		settable := f.Flag != "" || f.Interface
		if settable && f.Name == object && f.Object == isKey && (!isKey || key != "") {
			return column, nil
		}
		if settable && !f.Object {
			known = append(known, f.Name)
		}
	}
	for _, driver := range output.Sorted(keys) {
		if slices.Contains(keys[driver], column) {
			return "driver_info." + column, nil
		}
		known = append(known, keys[driver]...)
	}
	return column, suggest.Unknown("the field", column, "fields are "+strings.Join(known[:2], ", ")+
		", those that node create has flags for, properties.KEY, extra.KEY, and keys of driver_info", known)
}

// take reads the cells of a line; an empty one sets nothing.
func (r *nodeRow) take(columns []string, fields []string, cells []string, keys map[string][]string) (wrong []error) {
	for i, cell := range cells {
		switch cell = strings.TrimSpace(cell); {
		case cell == "":
		case fields[i] == macColumn:
			for mac := range strings.FieldsFuncSeq(cell, func(c rune) bool { return strings.ContainsRune(" ,;", c) }) {
				at, err := net.ParseMAC(mac)
				if err != nil {
					wrong = append(wrong, r.fault(macColumn, fmt.Errorf("%q: expected MAC addresses like 52:54:00:12:34:56", mac)))
				}
				r.macs = append(r.macs, at.String())
			}
		case strings.HasPrefix(fields[i], "driver_info."):
			r.fields[fields[i]] = output.MostlyText(cell)
		case strings.Contains(fields[i], ".") || cell == "true" || cell == "false":
			r.fields[fields[i]] = output.JsonOrText(cell)
		default:
			r.fields[fields[i]] = cell
		}
	}
	r.name, r.driver = textOf(r.fields["name"]), textOf(r.fields["driver"])
	if r.name == "" {
		wrong = append(wrong, r.fault("name", errors.New("expected a name, by which the next apply finds the node")))
	}
	if _, ok := keys[r.driver]; !ok {
		wrong = append(wrong, r.fault("driver", fmt.Errorf("%q: expected one of %s", r.driver,
			strings.Join(output.Sorted(keys), ", "))))
		return wrong
	}
	for i, column := range columns { // a key of another driver would have no effect
		if is := fields[i]; is == "driver_info."+column && r.fields[is] != nil &&
			!slices.Contains(keys[r.driver], column) {
			wrong = append(wrong, r.fault(column, fmt.Errorf("the driver %s has no such key of driver_info", r.driver)))
		}
	}
	return wrong
}

// twice refuses names and MACs that two rows have.
func twice(rows []*nodeRow) (wrong []error) {
	seen := map[string]string{}
	for _, r := range rows {
		for i, value := range append([]string{r.name}, r.macs...) {
			column := macColumn
			if i == 0 {
				column = "name"
			}
			if first := seen[column+value]; first != "" {
				wrong = append(wrong, r.fault(column, fmt.Errorf("%s stands in %s already", value, first)))
			}
			seen[column+value] = r.place
		}
	}
	return wrong
}
