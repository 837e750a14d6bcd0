package store

import "strings"

// query is a SELECT with conditions that depend on the filters. Values are arguments and never part of the text.
type query struct {
	dialect
	text       strings.Builder
	values     []any // the arguments
	conditions int
}

// newQuery begins with the text before WHERE, which has no arguments.
func newQuery(d dialect, text string) *query {
	q := &query{dialect: d}
	q.text.WriteString(text)
	return q
}

// where adds a condition that has to hold beside the others. Each ? in it stands
// for one of the arguments.
func (q *query) where(condition string, args ...any) {
	word := " AND "
	if q.conditions++; q.conditions == 1 {
		word = " WHERE "
	}
	q.add(word+condition, args...)
}

// whereAmong adds the condition that an expression is one of some values.
func (q *query) whereAmong(expression string, values []string) {
	q.where(expression+" IN ("+q.among+")", q.list(values))
}

// add appends text after the conditions.
func (q *query) add(text string, args ...any) {
	q.text.WriteString(text)
	q.values = append(q.values, args...)
}

func (q *query) String() string { return q.bind(q.text.String()) }
