// Package wait follows what was begun until it ends, and shows its progress.
package wait
