// Package client speaks to a conductor: login, requests, and the session that all
// commands of one run share.
package client
