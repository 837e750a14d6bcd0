// Package flags reads the flags whose values are objects or lists.
package flags
