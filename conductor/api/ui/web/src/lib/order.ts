// The order of machines in lists.
import { attention, inProgress, kindOf, kinds, plainState, urgency, type Machine } from './classify'

export type Column = 'name' | 'state' | 'since' | 'power' | 'class' | 'driver'

const rank = new Map(kinds.map(({ kind }, index) => [kind, index]))

/** natural orders names with numbers in them as people do: node-2 before node-10. */
export function natural(a: string, b: string): number {
  if (a === b) return 0
  const x = padded(a)
  const y = padded(b)
  return x < y ? -1 : x > y ? 1 : a < b ? -1 : 1
}

const known = new Map<string, string>()

function padded(text: string): string {
  let found = known.get(text)
  if (found === undefined) {
    if (known.size > 300_000) known.clear()
    found = text.toLowerCase().replace(/\d+/g, (digits) => digits.padStart(12, '0'))
    known.set(text, found)
  }
  return found
}

/** label is the name of a machine, else its UUID; a host's namespace is left out where it is the usual one. */
export const label = (m: Machine): string => m.name.replace(/^default~/, '') || m.uuid

const compare: Record<Column, (a: Machine, b: Machine) => number> = {
  name: (a, b) => natural(label(a), label(b)),
  state: (a, b) => (rank.get(kindOf(a.state)) ?? 0) - (rank.get(kindOf(b.state)) ?? 0) || natural(plainState(a.state), plainState(b.state)),
  since: (a, b) => a.since - b.since,
  power: (a, b) => natural(a.power, b.power),
  class: (a, b) => natural(a.class, b.class),
  driver: (a, b) => natural(a.driver, b.driver),
}

/** sorted orders machines by a column, and by name where that is equal. "-" before the column turns it around. */
export function sorted<M extends Machine>(machines: M[], by: string): M[] {
  const down = by.startsWith('-')
  const order = compare[(down ? by.slice(1) : by) as Column] ?? compare.name
  return [...machines].sort((a, b) => (down ? -order(a, b) : order(a, b)) || compare.name(a, b))
}

/** underWay are machines that lead on by themselves, the longest first. */
export const underWay = <M extends Machine>(machines: M[]): M[] => machines.filter((m) => inProgress(m.state)).sort((a, b) => a.since - b.since)

/** needing are machines that need somebody, the most urgent first. */
export function needing<M extends Machine>(machines: M[], now: number): M[] {
  return machines.filter((m) => attention(m, now) !== '').sort((a, b) => urgency(a) - urgency(b) || a.since - b.since)
}
