import { memo, useRef } from 'react'
import type { Row } from '../../api/row'
import { Link } from '../../components/link'
import { Power, State } from '../../components/mark'
import { useNow } from '../../hooks/use-now'
import { setQuery } from '../../hooks/use-route'
import { useVisibleRows } from '../../hooks/use-visible-rows'
import { attention, besideState } from '../../lib/classify'
import { shortDuration, visible } from '../../lib/format'
import { label, type Column } from '../../lib/order'
import { address } from '../../lib/route'
import { toggled, type Choice } from './choice'

const height = 34

const columns: { by: Column; label: string; wide?: boolean }[] = [
  { by: 'name', label: 'Name' },
  { by: 'state', label: 'State' },
  { by: 'since', label: 'For' },
  { by: 'power', label: 'Power' },
  { by: 'class', label: 'Class', wide: true },
  { by: 'driver', label: 'Driver', wide: true },
]

/** MachineList shows each machine as a row; only the rows that the window shows are in the page. */
export const MachineList = memo(function MachineList({ rows, sort, chosen, choose }: { rows: Row[]; sort: string } & Choice) {
  const ref = useRef<HTMLTableSectionElement>(null)
  const span = useVisibleRows(rows.length, height, ref)
  const now = useNow(5000)
  const allChosen = rows.length > 0 && rows.every((row) => chosen.has(row.uuid))
  return (
    <table className="list" aria-rowcount={rows.length + 1}>
      <thead>
        <tr>
          <th scope="col" className="check">
            <input
              type="checkbox"
              aria-label={`Choose all ${rows.length} that are shown`}
              checked={allChosen}
              onChange={() => choose(allChosen ? new Set() : new Set(rows.map((row) => row.uuid)))}
            />
          </th>
          {columns.map((c) => (
            <th
              key={c.by}
              scope="col"
              className={`col-${c.by}${c.wide ? ' wide' : ''}`}
              aria-sort={sort === c.by ? 'ascending' : sort === `-${c.by}` ? 'descending' : undefined}
            >
              <button type="button" onClick={() => setQuery({ sort: sort === c.by ? `-${c.by}` : c.by === 'name' ? '' : c.by })}>
                {c.label}
                <span aria-hidden="true">{sort === c.by ? ' ▲' : sort === `-${c.by}` ? ' ▼' : ''}</span>
              </button>
            </th>
          ))}
          <th scope="col" className="wide">
            Needs
          </th>
        </tr>
      </thead>
      <tbody ref={ref}>
        {span.first > 0 && <Space rows={span.first} />}
        {rows.slice(span.first, span.last).map((row, i) => (
          <Line
            key={row.uuid}
            row={row}
            index={span.first + i + 2}
            since={row.since > 0 ? shortDuration((now - row.since) / 1000) : ''}
            needs={attention(row, now)}
            chosen={chosen.has(row.uuid)}
            toggle={() => choose((before) => toggled(before, row.uuid))}
          />
        ))}
        {span.last < rows.length && <Space rows={rows.length - span.last} />}
      </tbody>
    </table>
  )
})

const Space = ({ rows }: { rows: number }) => (
  <tr aria-hidden="true" className="space">
    <td style={{ height: rows * height }} />
  </tr>
)

interface LineProps {
  row: Row
  index: number
  since: string
  needs: string
  chosen: boolean
  toggle: () => void
}

/** same leaves toggle out: it is another function each time, and does the same. */
const same = (a: LineProps, b: LineProps) =>
  a.row === b.row && a.index === b.index && a.since === b.since && a.needs === b.needs && a.chosen === b.chosen

const Line = memo(function Line({ row, index, since, needs, chosen, toggle }: LineProps) {
  const name = visible(label(row))
  return (
    <tr aria-rowindex={index} className={chosen ? 'chosen' : undefined}>
      <td className="check">
        <input type="checkbox" aria-label={`Choose ${name}`} checked={chosen} onChange={toggle} />
      </td>
      <td className="col-name">
        <Link to={address(['machines', row.uuid])} title={name}>
          {name}
        </Link>
      </td>
      <td>
        <State state={row.state} />
      </td>
      <td>{since}</td>
      <td className="col-power">
        <Power power={row.power} />
      </td>
      <td className="wide">{visible(row.class)}</td>
      <td className="wide">{visible(row.driver)}</td>
      <td className="wide needs" title={visible(needs)}>
        {visible(besideState(needs, row.state))}
      </td>
    </tr>
  )
}, same)
