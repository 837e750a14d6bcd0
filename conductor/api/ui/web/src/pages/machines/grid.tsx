import { memo, useMemo, useRef, useState, type CSSProperties, type KeyboardEvent } from 'react'
import type { Row } from '../../api/row'
import { go } from '../../hooks/use-route'
import { useNow } from '../../hooks/use-now'
import { useVisibleRows } from '../../hooks/use-visible-rows'
import { useWidth } from '../../hooks/use-width'
import { attention, inProgress, kindOf, plainState } from '../../lib/classify'
import { shortDuration, visible } from '../../lib/format'
import { grouped, lines, shares, sizes, tops, type Group } from '../../lib/group'
import { label } from '../../lib/order'
import { address } from '../../lib/route'
import { toggled, type Choice } from './choice'

const heading = 42

/** MachineGrid shows each machine as a tile, in groups. Arrow keys move between them, Space chooses one, Enter opens it. */
export const MachineGrid = memo(function MachineGrid({ rows, chosen, choose, size, by }: { rows: Row[]; size: number; by: string } & Choice) {
  const ref = useRef<HTMLDivElement>(null)
  const width = useWidth(ref) || 1000
  const tile = sizes[size]!
  const narrow = size > 0 && width < 500
  const columns = narrow ? (size === 3 ? 1 : 2) : Math.max(1, Math.floor(width / tile.width))
  const cell = size === 0 ? tile.width : narrow ? Math.floor(width / columns) : Math.min(Math.floor(width / columns), Math.floor(tile.width * 1.4))
  const groups = useMemo(() => grouped(rows, by), [rows, by])
  const all = useMemo(() => lines(groups, columns), [groups, columns])
  const begin = useMemo(() => tops(all, heading, tile.height), [all, tile])
  const span = useVisibleRows(all.length, begin, ref)
  const [at, setAt] = useState(0)
  const now = useNow(10_000)
  const current = Math.min(at, rows.length - 1)

  /** beside is the machine in the next line of tiles, in the same column. */
  const beside = (step: number): number => {
    const tiles = all.filter((line) => line.rows)
    const here = tiles.findIndex((line) => current < line.first + line.rows!.length)
    const next = tiles[here + step]
    return next ? next.first + Math.min(current - tiles[here]!.first, next.rows!.length - 1) : current
  }
  const move = (event: KeyboardEvent) => {
    const to: Record<string, () => number> = {
      ArrowRight: () => current + 1, ArrowLeft: () => current - 1, ArrowDown: () => beside(1), ArrowUp: () => beside(-1), Home: () => 0, End: () => rows.length - 1,
    }
    const line = (place: number) => all.findIndex((l) => l.rows && place < l.first + l.rows.length)
    if (event.key === ' ') {
      event.preventDefault()
      const of = all[line(current)]
      const row = of?.rows?.[current - of.first]
      if (row) choose((before) => toggled(before, row.uuid))
      return
    }
    const step = to[event.key]
    if (!step) return
    event.preventDefault()
    const next = Math.min(rows.length - 1, Math.max(0, step()))
    setAt(next)
    if (ref.current) {
      const top = ref.current.getBoundingClientRect().top + window.scrollY + begin[line(next)]!
      if (top < window.scrollY + 60) window.scrollTo(0, Math.max(0, top - 120))
      if (top + tile.height > window.scrollY + window.innerHeight - 80) window.scrollTo(0, top - window.innerHeight + tile.height + 120)
    }
    requestAnimationFrame(() => requestAnimationFrame(() => ref.current?.querySelector<HTMLElement>(`[data-at="${next}"]`)?.focus()))
  }
  return (
    <>
      <div ref={ref} className={`grid size-${size}`} role="grid" aria-label="Machines" aria-rowcount={all.length} aria-colcount={columns} onKeyDown={move} style={{ height: begin.at(-1)! }}>
        {all.slice(span.first, span.last).map(({ group, rows: tiles, first }, i) => (
          <div key={span.first + i} role="row" aria-rowindex={span.first + i + 1} className="grid-line" style={{ top: begin[span.first + i]!, height: tiles ? tile.height : heading }}>
            {tiles ? (
              tiles.map((row, j) => (
                <Tile
                  key={row.uuid}
                  row={row}
                  at={first + j}
                  size={size}
                  width={cell}
                  tab={first + j === current}
                  chosen={chosen.has(row.uuid)}
                  needs={attention(row, now)}
                  since={size >= 2 && row.since > 0 ? shortDuration((now - row.since) / 1000) : ''}
                  enter={setAt}
                />
              ))
            ) : (
              <Heading group={group} />
            )}
          </div>
        ))}
      </div>
      <p className="muted hint">Arrow keys move, Space chooses, Enter opens.</p>
    </>
  )
})

/** Heading is the name of a group, how many machines it has, and a bar of their states. */
const Heading = ({ group }: { group: Group<Row> }) => {
  const parts = shares(group.rows)
  return (
    <div role="rowheader" className="group-head">
      <b>{visible(group.name)}</b> <span className="count">{group.rows.length.toLocaleString('en-US')}</span>
      <span className="share" style={{ width: Math.min(240, 14 * group.rows.length) }} role="img" aria-label={parts.map((p) => `${p.count} ${p.label.toLowerCase()}`).join(', ')} title={parts.map((p) => `${p.count} ${p.label.toLowerCase()}`).join(', ')}>
        {parts.map((p) => (
          <span key={p.kind} className={`kind-${p.kind}`} style={{ flexGrow: p.count }} />
        ))}
      </span>
    </div>
  )
}

interface TileProps {
  row: Row
  at: number
  size: number
  width: number
  tab: boolean
  chosen: boolean
  needs: string
  since: string
  enter: (at: number) => void
}

const Tile = memo(function Tile({ row, at, size, width, tab, chosen, needs, since, enter }: TileProps) {
  const to = address(['machines', row.uuid])
  const name = visible(label(row))
  const kind = kindOf(row.state)
  const progress = row.progress && row.progress.total > 0 ? Math.min(100, (100 * row.progress.done) / row.progress.total) : null
  const state = plainState(row.state) + (progress === null ? '' : ` ${Math.floor(progress)} %`)
  const [first, second, third] = [since ? `${state} · ${since}` : state, [row.power.replace('power ', ''), visible(row.class)].filter(Boolean).join(' · '), visible(needs || row.step || row.stage || row.driver)]
  const seen = [name, first, size >= 2 && second, size === 3 && third].filter(Boolean).join(' ')
  const about = `${seen}, ${row.power || 'power unknown'}${needs && size < 3 ? `, ${visible(needs)}` : ''}${chosen ? ', chosen' : ''}`
  return (
    <div role="gridcell" className="cell" style={{ width }} aria-selected={chosen}>
      <a
        href={to}
        data-at={at}
        tabIndex={tab ? 0 : -1}
        className={`tile kind-${kind}${chosen ? ' chosen' : ''}${needs ? ' needs' : ''}${row.power === 'power on' ? ' on' : ''}`}
        aria-label={about}
        title={about}
        onFocus={() => enter(at)}
        onClick={(event) => {
          if (event.metaKey || event.ctrlKey || event.shiftKey) return
          event.preventDefault()
          go(to)
        }}
      >
        <span className={inProgress(row.state) && size > 0 ? `ring${progress === null ? ' open' : ''}` : 'no-ring'} style={{ '--part': `${progress ?? 25}%` } as CSSProperties} aria-hidden="true">
          <span className={`mark mark-${kind}`} />
        </span>
        {size > 0 && (
          <span className="tile-text">
            <span className="tile-name">{name}</span>{' '}
            <span className="tile-state">{first}</span> {size >= 2 && <span className="tile-state">{second}</span>}{' '}
            {size === 3 && <span className={needs ? 'tile-state needs' : 'tile-state'}>{third}</span>}
          </span>
        )}
      </a>
    </div>
  )
})
