// Package output prints answers as table, JSON or YAML. Text of machines is shown, and
// never obeyed, by the terminal.
package output
