import { memo, useEffect, useMemo, useRef, useState } from 'react'
import { readStatuses } from '../../api/machine'
import type { Row } from '../../api/row'
import type { Status } from '../../api/types'
import { Advice } from '../../components/advice'
import { Link } from '../../components/link'
import { Power, State } from '../../components/mark'
import { Progress } from '../../components/progress'
import { useNow } from '../../hooks/use-now'
import { useVisibleRows } from '../../hooks/use-visible-rows'
import { attention } from '../../lib/classify'
import { duration, secondsSince, visible } from '../../lib/format'
import { label } from '../../lib/order'
import { address } from '../../lib/route'
import { inLabels } from '../../lib/words'

const height = 124
const narrowHeight = 156

/** MachineTasks shows machines in progress, or those that need somebody, each with the reason and the next step. */
export const MachineTasks = memo(function MachineTasks({ rows, of }: { rows: Row[]; of: 'progress' | 'attention' }) {
  const ref = useRef<HTMLUListElement>(null)
  const line = window.innerWidth < 700 ? narrowHeight : height
  const span = useVisibleRows(rows.length, line, ref, 4)
  const seen = rows.slice(span.first, span.last)
  const statuses = useStatuses(seen)
  const now = useNow()
  return (
    <ul className="tasks" ref={ref} style={{ height: rows.length * line }}>
      {seen.map((row, i) => (
        <li key={row.uuid} style={{ top: (span.first + i) * line, height: line }}>
          <div className="task-head">
            <Link to={address(['machines', row.uuid])} className="task-name">
              {visible(label(row))}
            </Link>
            <State state={row.state} />
            <Power power={row.power} />
            <span className="muted">{row.since > 0 && `for ${duration((now - row.since) / 1000)}`}</span>
          </div>
          {of === 'progress' ? (
            <InProgress row={row} status={statuses[row.uuid]} now={now} />
          ) : (
            <p className="reason" title={visible(attention(row, now))}>
              {visible(attention(row, now))}
            </p>
          )}
          {statuses[row.uuid]?.try && (
            <p className="next" title={visible(inLabels(statuses[row.uuid]?.try ?? ''))}>
              <span className="muted">Next:</span> <Advice text={statuses[row.uuid]?.try ?? ''} machine={row.uuid} />
            </p>
          )}
        </li>
      ))}
    </ul>
  )
})

function InProgress({ row, status, now }: { row: Row; status: Status | undefined; now: number }) {
  const p = row.progress ?? (status?.progress ? { ...status.progress, at: Date.parse(status.progress.at) } : null)
  const until = secondsSince(status?.until, now)
  return (
    <>
      <p className="reason">
        {visible(status?.step ?? row.step)}
        {status?.step || row.step ? ': ' : ''}
        {visible(status?.waiting_for ?? (row.stage ? `boot: ${row.stage}` : 'the conductor is at work'))}
        {Number.isFinite(until) && <span className="muted">{until < 0 ? `, at most ${duration(-until)} more` : ', the time is over'}</span>}
      </p>
      {p && <Progress done={p.done} total={p.total} what={p.step} {...(status?.progress ? { perSecond: status.progress.rate, left: status.progress.eta } : {})} />}
    </>
  )
}

/** useStatuses are the statuses of the machines that are seen, read anew when one of them changes, and every ten seconds. */
function useStatuses(rows: Row[]): Record<string, Status> {
  const [statuses, setStatuses] = useState<Record<string, Status>>({})
  const [turn, setTurn] = useState(0)
  const uuids = useMemo(() => rows.slice(0, 100).map((row) => row.uuid), [rows])
  const key = rows.map((row) => `${row.uuid}${row.state}${row.step}${row.error}`).join()
  useEffect(() => {
    const end = new AbortController()
    const wait = setTimeout(() => {
      readStatuses(uuids, end.signal).then(setStatuses, () => undefined) // the rows themselves are shown
    }, 150)
    const again = setTimeout(() => setTurn((t) => t + 1), 10_000)
    return () => {
      clearTimeout(wait)
      clearTimeout(again)
      end.abort()
    }
  }, [key, turn])
  return statuses
}
