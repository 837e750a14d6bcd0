// Package cluster has several conductors share one database: members see each other, one leads each conductor group
// at a time, and the others forward to it what concerns its nodes.
//
// It must not know what a leader does, nor what a request means beyond the group that it concerns.
package cluster
