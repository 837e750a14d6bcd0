// Package reference writes the reference pages of the command line and of the
// conductor's configuration, as Markdown, from the commands themselves.
package reference
