import { memo, useRef, useState, type KeyboardEvent } from 'react'
import type { Row } from '../../api/row'
import { go } from '../../hooks/use-route'
import { useVisibleRows } from '../../hooks/use-visible-rows'
import { useWidth } from '../../hooks/use-width'
import { attention, kindOf, plainState } from '../../lib/classify'
import { visible } from '../../lib/format'
import { label } from '../../lib/order'
import { address } from '../../lib/route'
import { toggled, type Choice } from './choice'

/** From this many machines on, a tile is a mark without a name. */
const dense = 600

/** MachineGrid shows each machine as a tile. Arrow keys move between them, Space chooses one, Enter opens it. */
export const MachineGrid = memo(function MachineGrid({ rows, chosen, choose }: { rows: Row[] } & Choice) {
  const ref = useRef<HTMLDivElement>(null)
  const width = useWidth(ref)
  const small = rows.length > dense
  const size = small ? { width: 22, height: 22 } : { width: width < 500 ? Math.floor((width || 340) / 2) : 168, height: 46 }
  const columns = Math.max(1, Math.floor((width || 1000) / size.width))
  const lines = Math.ceil(rows.length / columns)
  const span = useVisibleRows(lines, size.height, ref)
  const [at, setAt] = useState(0)
  const current = Math.min(at, rows.length - 1)

  const move = (event: KeyboardEvent) => {
    const steps: Record<string, number> = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: columns, ArrowUp: -columns }
    const row = rows[current]
    if (event.key === ' ' && row) {
      event.preventDefault()
      choose((before) => toggled(before, row.uuid))
      return
    }
    const step = event.key === 'Home' ? -current : event.key === 'End' ? rows.length - 1 - current : steps[event.key]
    if (step === undefined) return
    event.preventDefault()
    const next = Math.min(rows.length - 1, Math.max(0, current + step))
    setAt(next)
    const line = Math.floor(next / columns)
    if (ref.current) {
      const top = ref.current.getBoundingClientRect().top + window.scrollY + line * size.height
      if (top < window.scrollY + 60) window.scrollTo(0, Math.max(0, top - 120))
      if (top + size.height > window.scrollY + window.innerHeight - 80) window.scrollTo(0, top - window.innerHeight + size.height + 120)
    }
    requestAnimationFrame(() => requestAnimationFrame(() => ref.current?.querySelector<HTMLElement>(`[data-at="${next}"]`)?.focus()))
  }
  const now = Date.now()
  return (
    <>
      <div
        ref={ref}
        className={small ? 'grid small' : 'grid'}
        role="grid"
        aria-label="Machines"
        aria-rowcount={lines}
        aria-colcount={columns}
        onKeyDown={move}
        style={{ height: lines * size.height }}
      >
        {Array.from({ length: Math.max(0, span.last - span.first) }, (_, i) => span.first + i).map((line) => (
          <div key={line} role="row" aria-rowindex={line + 1} className="grid-line" style={{ top: line * size.height, height: size.height }}>
            {rows.slice(line * columns, (line + 1) * columns).map((row, i) => (
              <Tile
                key={row.uuid}
                row={row}
                at={line * columns + i}
                small={small}
                width={size.width}
                tab={line * columns + i === current}
                chosen={chosen.has(row.uuid)}
                needs={attention(row, now)}
                enter={setAt}
              />
            ))}
          </div>
        ))}
      </div>
      <p className="muted hint">Arrow keys move, Space chooses, Enter opens.</p>
    </>
  )
})

interface TileProps {
  row: Row
  at: number
  small: boolean
  width: number
  tab: boolean
  chosen: boolean
  needs: string
  enter: (at: number) => void
}

const Tile = memo(function Tile({ row, at, small, width, tab, chosen, needs, enter }: TileProps) {
  const to = address(['machines', row.uuid])
  const name = visible(label(row))
  const progress = row.progress && row.progress.total > 0 ? Math.min(100, (100 * row.progress.done) / row.progress.total) : null
  const state = plainState(row.state) + (progress === null ? '' : ` ${Math.floor(progress)} %`)
  const about = `${name} ${state}, ${row.power || 'power unknown'}${needs ? `, ${visible(needs)}` : ''}${chosen ? ', chosen' : ''}`
  return (
    <div role="gridcell" className="cell" style={{ width }} aria-selected={chosen}>
      <a
        href={to}
        data-at={at}
        tabIndex={tab ? 0 : -1}
        className={`tile kind-${kindOf(row.state)}${chosen ? ' chosen' : ''}${needs ? ' needs' : ''}${row.power === 'power on' ? ' on' : ''}`}
        aria-label={about}
        title={about}
        onFocus={() => enter(at)}
        onClick={(event) => {
          if (event.metaKey || event.ctrlKey || event.shiftKey) return
          event.preventDefault()
          go(to)
        }}
      >
        <span className={`mark mark-${kindOf(row.state)}`} aria-hidden="true" />
        {!small && (
          <span className="tile-text">
            <span className="tile-name">{name}</span>{' '}
            <span className="tile-state">{state}</span>
          </span>
        )}
      </a>
    </div>
  )
})
