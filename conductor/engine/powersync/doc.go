// Package powersync reads the power state of every machine in its turn, and now and then
// how its firmware starts it. It writes only what plan takes for news.
package powersync
