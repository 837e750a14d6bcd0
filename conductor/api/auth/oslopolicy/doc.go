// Package oslopolicy reads files of rules in the language of OpenStack's oslo.policy, and evaluates their checks.
//
// It is pure: bytes in, rules out. A file is read once, and a check decides from the caller and the record's owner and
// lessee alone. Checks that call other servers (http:) are refused. So is all that oslo.policy would only log and deny:
// a rule that cannot be read, an unknown rule, a circle of rules.
package oslopolicy
