// Package cluster shares one database among several conductors: members see each other, one leads each conductor group
// at a time, and the others forward requests for its nodes to it.
//
// It must know neither the work of a leader, nor the meaning of a request beyond its group.
package cluster
