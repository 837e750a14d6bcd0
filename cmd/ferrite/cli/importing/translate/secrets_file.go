package translate

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"sigs.k8s.io/yaml"
)

// ParseSecrets reads a file of secrets. The file name's suffix selects its form:
//
//   - .csv: a first line node,KEY,KEY and a line for each node, with values of driver_info
//   - .tsv: UUID, driver_info, instance_info and, of volume targets, properties as a client of MySQL writes them; the
//     last may be missing
//   - .yaml, .json: NODE: {KEY: VALUE}, or NODE: {driver_info: {...}, instance_info: {...}}
func ParseSecrets(name string, raw []byte) (Secrets, error) {
	switch {
	case strings.HasSuffix(name, ".csv"):
		return secretsCSV(raw)
	case strings.HasSuffix(name, ".tsv"):
		return secretsTSV(raw)
	}
	var file map[string]map[string]any
	if err := yaml.UnmarshalStrict(raw, &file); err != nil {
		return nil, fmt.Errorf("expected NODE: {KEY: VALUE} as YAML or JSON: %w", err)
	}
	s := Secrets{}
	for node, values := range file {
		plain := map[string]any{}
		for key, value := range values {
			fields, ok := value.(map[string]any)
			switch {
			case (key == "driver_info" || key == "instance_info" || key == "properties") && ok:
				s.Merge(node, key, fields)
			default:
				plain[key] = value
			}
		}
		if len(plain) > 0 {
			s.Merge(node, "driver_info", plain)
		}
	}
	return s, nil
}

// Add adds the secrets of one record.
func (s Secrets) Add(id, field string, document []byte) error {
	if len(document) == 0 {
		return nil
	}
	var values map[string]any
	d := json.NewDecoder(bytes.NewReader(document))
	d.UseNumber()
	if err := d.Decode(&values); err != nil {
		return fmt.Errorf("%s of %s: expected a JSON object: %w", field, id, err)
	}
	s.Merge(id, field, values)
	return nil
}

// Merge adds values of one field of a record.
func (s Secrets) Merge(id, field string, values map[string]any) {
	if s[id] == nil {
		s[id] = map[string]map[string]any{}
	}
	if s[id][field] == nil {
		s[id][field] = map[string]any{}
	}
	for key, value := range values {
		s[id][field][key] = value
	}
}

func secretsCSV(raw []byte) (Secrets, error) {
	r := csv.NewReader(bytes.NewReader(raw))
	head, err := r.Read()
	if err != nil || len(head) < 2 || head[0] != "node" {
		return nil, errors.New("expected a first line node,KEY,...: each KEY is a key of driver_info")
	}
	s := Secrets{}
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			return s, nil
		}
		if err != nil {
			return nil, err
		}
		values := map[string]any{}
		for i, value := range row[1:] {
			if value != "" {
				values[head[i+1]] = value
			}
		}
		s.Merge(row[0], "driver_info", values)
	}
}

// unescapeTSV undoes the escapes of MySQL's client (--batch).
var unescapeTSV = strings.NewReplacer(`\\`, `\`, `\t`, "\t", `\n`, "\n", `\0`, "\x00")

func secretsTSV(raw []byte) (Secrets, error) {
	s := Secrets{}
	for i, line := range strings.Split(strings.TrimRight(string(raw), "\n"), "\n") {
		fields := strings.Split(strings.TrimSuffix(line, "\r"), "\t")
		if len(fields) != 3 && len(fields) != 4 {
			return nil, fmt.Errorf("line %d has %d fields, expected uuid, driver_info, instance_info and properties", i+1,
				len(fields))
		}
		if fields[0] == "uuid" {
			continue
		}
		for at, name := range []string{"driver_info", "instance_info", "properties"}[:len(fields)-1] {
			if document := unescapeTSV.Replace(fields[at+1]); document != "NULL" {
				if err := s.Add(fields[0], name, []byte(document)); err != nil {
					return nil, fmt.Errorf("line %d: %w", i+1, err)
				}
			}
		}
	}
	return s, nil
}
