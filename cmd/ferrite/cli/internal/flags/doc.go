// Package flags reads flags with objects or lists as values.
package flags
