// Package webhooks sends the events of a database to receivers: signed, in order, each at least once.
//
// A receiver's place in the events is a row of the database, and events that a receiver needs are kept for it. It must
// not know nodes: it passes on the events as they are.
package webhooks
