package hostapi

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// rule is the parsed tag "rule" of a field: "required,enum=a/b,min=0". All but required applies to present fields.
type rule struct {
	required           bool
	enum               []string
	form               string
	min, max           *int64
	minItems, maxItems *int
	maxLen             *int
}

// ruleOf reads a field's tag.
func ruleOf(f reflect.StructField) (r rule) {
	for word := range strings.SplitSeq(f.Tag.Get("rule"), ",") {
		key, value, _ := strings.Cut(word, "=")
		n, err := strconv.ParseInt(value, 10, 64)
		count := int(n)
		switch key {
		case "":
			continue
		case "required":
			r.required, err = true, nil
		case "enum":
			r.enum, err = strings.Split(value, "/"), nil
		case "form":
			r.form, err = value, nil
		case "min":
			r.min = &n
		case "max":
			r.max = &n
		case "minitems":
			r.minItems = &count
		case "maxitems":
			r.maxItems = &count
		case "maxlen":
			r.maxLen = &count
		default:
			err = fmt.Errorf("no such rule")
		}
		if err != nil {
			panic(fmt.Sprintf("the tag of %s: %q: %v", f.Name, word, err)) // every tag is read by every test
		}
	}
	return r
}

// jsonName is a field's name in documents; "" for embedded fields.
func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

// whole reports whether a type is one value in documents, and has no fields there.
func whole(t reflect.Type) bool {
	return t == reflect.TypeFor[Time]() || t == reflect.TypeFor[IntOrString]()
}

// checkTags checks a document by the tags of its fields.
func checkTags(d Document, add report) { checkStruct(reflect.ValueOf(d).Elem(), "", add) }

func checkStruct(v reflect.Value, path string, add report) {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		name := jsonName(f)
		if name == "" {
			checkStruct(v.Field(i), path, add)
			continue
		}
		checkField(v.Field(i), ruleOf(f), place("%s.%s", path, name), add)
	}
}

func checkField(v reflect.Value, r rule, path string, add report) {
	if v.IsZero() {
		if r.required {
			add(Problem{Path: path, Reason: "it is required", Missing: true})
		}
		return
	}
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	switch v.Kind() {
	case reflect.Struct:
		if !whole(v.Type()) {
			checkStruct(v, path, add)
		}
	case reflect.String:
		checkText(v.String(), r, path, add)
	case reflect.Int, reflect.Int64:
		checkNumber(v.Int(), r, path, add)
	case reflect.Slice:
		checkList(v, r, path, add)
	case reflect.Map:
		checkMap(v, r, path, add)
	default: // booleans and fractions have no rules
	}
}

func checkText(s string, r rule, path string, add report) {
	if r.enum != nil && s != "" && !slices.Contains(r.enum, s) {
		add(Problem{Path: path, Value: s, Reason: "expected one of " + strings.Join(r.enum, ", "), Choices: r.enum})
	}
	if r.maxLen != nil && len(s) > *r.maxLen {
		add(Problem{
			Path: path, Value: s, Reason: fmt.Sprintf("expected %d characters at the most, found %d", *r.maxLen, len(s)),
		})
	}
	if r.form != "" && s != "" {
		checkForm(path, r.form, s, add)
	}
}

func checkNumber(n int64, r rule, path string, add report) {
	if r.min != nil && n < *r.min {
		add(Problem{Path: path, Value: strconv.FormatInt(n, 10), Reason: fmt.Sprintf("expected %d or more", *r.min)})
	}
	if r.max != nil && n > *r.max {
		add(Problem{Path: path, Value: strconv.FormatInt(n, 10), Reason: fmt.Sprintf("expected %d or less", *r.max)})
	}
}

func checkList(v reflect.Value, r rule, path string, add report) {
	if r.minItems != nil && v.Len() < *r.minItems {
		add(Problem{
			Path: path, Value: strconv.Itoa(v.Len()), Reason: fmt.Sprintf("expected %d or more, found %d", *r.minItems, v.Len()),
		})
	}
	if r.maxItems != nil && v.Len() > *r.maxItems {
		add(Problem{
			Path: path, Value: strconv.Itoa(v.Len()),
			Reason: fmt.Sprintf("expected %d at the most, found %d", *r.maxItems, v.Len()),
		})
	}
	for i := range v.Len() {
		at := place("%s[%d]", path, i)
		if e := v.Index(i); e.Kind() == reflect.Struct {
			checkStruct(e, at, add) // an empty one, too
		} else {
			checkField(e, rule{form: r.form}, at, add)
		}
	}
}

// checkMap looks at the keys, and of labels at the values too.
func checkMap(v reflect.Value, r rule, path string, add report) {
	keys := v.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
	size := 0
	for _, k := range keys {
		value := v.MapIndex(k)
		switch r.form {
		case "labels":
			checkForm(place("%s[%s]", path, k), "qualified", k.String(), add)
			checkForm(place("%s[%s]", path, k), "value", value.String(), add)
		case "annotations":
			checkForm(place("%s[%s]", path, k), "qualified", strings.ToLower(k.String()), add)
		case "keys":
			checkForm(place("%s[%s]", path, k), "key", k.String(), add)
		}
		if value.Kind() == reflect.Struct {
			checkField(value, rule{}, place("%s[%s]", path, k), add)
			continue
		}
		size += k.Len() + value.Len()
	}
	if most, bounded := map[string]int{"annotations": 256 << 10, "keys": 1 << 20}[r.form]; bounded && size > most {
		add(Problem{
			Path: path, Value: strconv.Itoa(size), Reason: fmt.Sprintf("expected %d bytes at the most, found %d", most, size),
		})
	}
}
