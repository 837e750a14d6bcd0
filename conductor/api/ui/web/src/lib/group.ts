// Groups of machines, and the lines of a grid of them.
import { kindOf, kinds, plainState, type Machine } from './classify'
import { label, natural } from './order'

/** groupings are the ways to group the tiles; rack is a name without its last number: rack4-7 is in rack4. */
export const groupings: Record<string, { label: string; of: (m: Machine) => string }> = {
  class: { label: 'Class', of: (m) => m.class || 'no class' },
  state: { label: 'State', of: (m) => plainState(m.state) },
  rack: { label: 'Rack, by name', of: (m) => (m.name === '' ? 'no name' : (/^(.+?)[-_.]?[a-z]?\d+$/i.exec(label(m))?.[1] ?? m.name)) },
}

export interface Group<M extends Machine> {
  name: string
  rows: M[]
}

/** grouped puts machines that are in order into groups by name; without a grouping there is one group without a name. */
export function grouped<M extends Machine>(rows: M[], by: string): Group<M>[] {
  const grouping = groupings[by]
  if (!grouping) return rows.length > 0 ? [{ name: '', rows }] : []
  const groups = new Map<string, M[]>()
  for (const row of rows) {
    const name = grouping.of(row)
    const group = groups.get(name)
    if (group) group.push(row)
    else groups.set(name, [row])
  }
  return [...groups].map(([name, found]) => ({ name, rows: found })).sort((a, b) => natural(a.name, b.name))
}

/** shares are how many machines of a group are in each kind of state, in the order of the kinds. */
export function shares(rows: Machine[]): { kind: string; label: string; count: number }[] {
  const counts = new Map<string, number>()
  for (const row of rows) counts.set(kindOf(row.state), (counts.get(kindOf(row.state)) ?? 0) + 1)
  return kinds.filter((k) => counts.has(k.kind)).map((k) => ({ kind: k.kind, label: k.label, count: counts.get(k.kind)! }))
}

/** Line is a heading of a group, or a row of tiles; first is the place of its first machine among all. */
export interface Line<M extends Machine> {
  group: Group<M>
  rows: M[] | null
  first: number
}

/** lines are those of a grid with so many columns. */
export function lines<M extends Machine>(groups: Group<M>[], columns: number): Line<M>[] {
  const all: Line<M>[] = []
  let first = 0
  for (const group of groups) {
    if (group.name !== '') all.push({ group, rows: null, first })
    for (let i = 0; i < group.rows.length; i += columns) all.push({ group, rows: group.rows.slice(i, i + columns), first: first + i })
    first += group.rows.length
  }
  return all
}

/** tops are where lines begin, and at the end how high all of them are. */
export function tops(all: Line<Machine>[], heading: number, tile: number): number[] {
  const found = [0]
  for (const line of all) found.push(found.at(-1)! + (line.rows ? tile : heading))
  return found
}

/** sizes are the tiles that the slider chooses from: 0 is a mark without a name. */
export const sizes = [
  { width: 22, height: 22 },
  { width: 150, height: 46 },
  { width: 200, height: 66 },
  { width: 300, height: 92 },
]

/** usualSize is the largest that needs not much more than a window. */
export const usualSize = (count: number): number => (count > 600 ? 0 : count > 80 ? 1 : count > 16 ? 2 : 3)
