// Package serve is `ferrite serve`: it reads the configuration, wires store, drivers, engine, API and boot service
// together, and ends them in order. The commands for a conductor's data are here, too: backup, restore, doctor, store
// and secrets.
//
// It is wiring: code that can be tested without it belongs elsewhere. To read it, begin with these:
//
//	flags.go, config.go, config_check.go   the settings, and which of them are refused
//	serve.go, serving.go                   a conductor alone, from its start to its end
//	cluster.go                             a member of a cluster, and the terms in which it leads
//	work.go                                a conductor at work, in either case: a list of rooms that open in order
//	extras.go                              the list of extras, which a build tag leaves out, and the places they fill in
//
// Every other file is named for the subject that it wires: the settings of that subject, their checks, and the parts
// made of them.
package serve
