import { useDeferredValue, useEffect, useMemo, useState } from 'react'
import { machineStore } from '../api/machine-store'
import type { Row } from '../api/row'
import { session } from '../api/session'
import { Failed, Empty } from '../components/notice'
import { Link } from '../components/link'
import { setQuery, useRoute } from '../hooks/use-route'
import { useStore } from '../hooks/use-store'
import { attention, inProgress, kindOf, kinds, type Kind } from '../lib/classify'
import { matches, parse, valueOf, withTerm } from '../lib/filter'
import { plural } from '../lib/format'
import { groupings, sizes, usualSize } from '../lib/group'
import { needing, sorted, underWay } from '../lib/order'
import { address } from '../lib/route'
import { Bulk } from './machines/bulk'
import { MachineFilter } from './machines/filter'
import { FirstSteps } from './machines/first-steps'
import { MachineGrid } from './machines/grid'
import { MachineList } from './machines/list'
import { MachineTasks } from './machines/tasks'

const views = [
  { view: 'grid', label: 'Grid' },
  { view: 'list', label: 'List' },
  { view: 'progress', label: 'In progress' },
  { view: 'attention', label: 'Needs attention' },
]

/** MachinesPage is all machines: as a grid, as a list, those in progress, and those that need somebody. */
export function MachinesPage() {
  useEffect(() => machineStore.begin(), [])
  const { version, loading, error } = useStore(machineStore)
  const { query } = useRoute()
  const view = query.get('view') ?? 'grid'
  const sort = query.get('sort') ?? 'name'
  const text = query.get('q') ?? ''
  const filter = useDeferredValue(text)
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())

  const rows = useMemo(() => [...machineStore.rows.values()], [version])
  const counts = useMemo(() => count(rows), [rows])
  const shown = useMemo(() => {
    const terms = parse(filter)
    const found = terms.length === 0 ? rows : rows.filter((row) => matches(row, terms, row.texts))
    if (view === 'progress') return underWay(found)
    if (view === 'attention') return needing(found, Date.now())
    return sorted(found, view === 'grid' ? 'name' : sort)
  }, [rows, filter, view, sort])

  const kind = valueOf(text, 'kind')
  const size = sizes[Number(query.get('size') ?? NaN)] ? Number(query.get('size')) : usualSize(shown.length)
  const group = query.get('group') ?? ''
  if (rows.length === 0 && !loading && error === '')
    return (
      <>
        <h1>Machines</h1>
        <FirstSteps />
      </>
    )
  return (
    <>
      <div className="heading">
        <h1>Machines</h1>
        <p className="muted" aria-live="polite">
          {shown.length === rows.length ? plural(rows.length, 'machine') : `${shown.length.toLocaleString('en-US')} of ${plural(rows.length, 'machine')}`}
          {loading && ', reading'}
        </p>
        {session.may('baremetal:node:create') && (
          <Link to={address(['enroll'])} className="button primary">
            Enroll a machine
          </Link>
        )}
      </div>
      <Failed error={error} retry={() => void machineStore.read()} />
      <div className="chips" role="group" aria-label="Groups of states">
        {kinds
          .filter((k) => counts.kinds[k.kind] || kind === k.kind)
          .map((k) => (
            <button
              key={k.kind}
              type="button"
              className={`chip kind-${k.kind}`}
              aria-pressed={kind === k.kind}
              title={k.means}
              onClick={() => setQuery({ q: withTerm(text, 'kind', kind === k.kind ? '' : k.kind) })}
            >
              <span className={`mark mark-${k.kind}`} aria-hidden="true" />
              {k.label} <b>{(counts.kinds[k.kind] ?? 0).toLocaleString('en-US')}</b>
            </button>
          ))}
      </div>
      <MachineFilter text={text} />
      <div className="views">
        <nav className="tabs" aria-label="Views">
          {views.map((v) => (
            <Link
              key={v.view}
              to={address([], { view: v.view === 'grid' ? '' : v.view, q: text, group, size: query.get('size') ?? '' })}
              aria-current={view === v.view ? 'page' : undefined}
            >
              {v.label}
              {v.view === 'progress' && <Count of={counts.progress} />}
              {v.view === 'attention' && <Count of={counts.attention} />}
            </Link>
          ))}
        </nav>
        {view === 'grid' && (
          <div className="tile-tools">
            <label>
              Group by{' '}
              <select value={group} onChange={(e) => setQuery({ group: e.target.value })}>
                <option value="">nothing</option>
                {Object.entries(groupings).map(([by, g]) => (
                  <option key={by} value={by}>
                    {g.label}
                  </option>
                ))}
              </select>
            </label>
            <label>
              Tiles{' '}
              <input type="range" min={0} max={sizes.length - 1} value={size} onChange={(e) => setQuery({ size: e.target.value })} aria-label="Size of the tiles" />
            </label>
          </div>
        )}
      </div>
      {shown.length === 0 && !loading ? (
        <Empty>{text === '' ? nothing[view] : 'No machine matches the filter.'}</Empty>
      ) : view === 'list' ? (
        <MachineList rows={shown} sort={sort} chosen={chosen} choose={setChosen} />
      ) : view === 'grid' ? (
        <MachineGrid rows={shown} size={size} by={group} chosen={chosen} choose={setChosen} />
      ) : (
        <MachineTasks rows={shown} of={view === 'progress' ? 'progress' : 'attention'} />
      )}
      {view === 'grid' && rows.length <= 6 && !loading && session.may('baremetal:node:create') && <FirstSteps more />}
      <Bulk shown={shown} chosen={chosen} choose={setChosen} />
    </>
  )
}

const nothing: Record<string, string> = {
  progress: 'Nothing is in progress.',
  attention: 'No machine needs attention.',
}

const Count = ({ of }: { of: number }) => (of > 0 ? <span className="count">{of.toLocaleString('en-US')}</span> : null)

interface Counts {
  kinds: Partial<Record<Kind, number>>
  progress: number
  attention: number
}

function count(rows: Row[]): Counts {
  const counts: Counts = { kinds: {}, progress: 0, attention: 0 }
  const now = Date.now()
  for (const row of rows) {
    const kind = kindOf(row.state)
    counts.kinds[kind] = (counts.kinds[kind] ?? 0) + 1
    if (inProgress(row.state)) counts.progress++
    if (attention(row, now) !== '') counts.attention++
  }
  return counts
}
