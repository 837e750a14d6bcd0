// Package wait follows a request until its work ends, and shows the progress.
package wait
