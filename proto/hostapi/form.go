package hostapi

import (
	"regexp"
	"strings"
	"sync"
)

// form is how a text must look, by the name that the tag "rule" calls it.
type form struct {
	pattern string
	most    int // characters
	reason  string
}

// forms are Kubernetes' for names, labels and keys, and Metal3's for addresses.
func forms() map[string]form {
	const part = `[a-z0-9]([-a-z0-9]*[a-z0-9])?`
	const word = `[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?`
	return map[string]form{
		"name": {
			part + `(\.` + part + `)*`, 253,
			"expected lower case letters, digits, '-' and '.', with a letter or digit at both ends",
		},
		"label": {part, 63, "expected lower case letters, digits and '-', with a letter or digit at both ends"},
		"qualified": {
			`(` + part + `(\.` + part + `)*/)?` + word, 317,
			"expected letters, digits, '-', '_' and '.', with a letter or digit at both ends, and perhaps a domain and '/' " +
				"before them",
		},
		"value": {
			`(` + word + `)?`, 63, "expected letters, digits, '-', '_' and '.', with a letter or digit at both ends",
		},
		"key": {`[-._a-zA-Z0-9]+`, 253, "expected letters, digits, '-', '_' and '.'"},
		"mac": {`[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}`, 17, "expected a MAC address like 52:54:00:12:34:56"},
	}
}

// patterns are the forms, ready to be matched.
var patterns = sync.OnceValue(func() map[string]*regexp.Regexp { //nolint:gochecknoglobals // made once, never changed
	all := map[string]*regexp.Regexp{}
	for name, f := range forms() {
		all[name] = regexp.MustCompile(`^(` + f.pattern + `)$`)
	}
	return all
})

// checkForm reports a text of the wrong form.
func checkForm(path, name, text string, add report) {
	f := forms()[name]
	most := f.most
	if name == "qualified" { // the part behind the domain is shorter
		if _, tail, has := strings.Cut(text, "/"); !has || len(tail) > 63 {
			most = 63
		}
	}
	if len(text) > most {
		add(Problem{Path: path, Value: text, Reason: f.reason + ", and not so many"})
	} else if !patterns()[name].MatchString(text) {
		add(Problem{Path: path, Value: text, Reason: f.reason})
	}
}
