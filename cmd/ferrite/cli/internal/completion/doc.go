// Package completion offers a shell the next words of a command: names of nodes and records, states, drivers,
// interfaces and settings.
//
// The arguments of a command are read off its usage line, and a flag is known by its name, so a new command is
// completed without a line here. Names come from the conductor that the command would ask. A conductor that does not
// answer costs two seconds and no message.
package completion
