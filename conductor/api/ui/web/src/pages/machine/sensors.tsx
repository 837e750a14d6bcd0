import { get } from '../../api/client'
import { Fault } from '../../api/fault'
import { ferrite } from '../../api/machine'
import type { Sensors as Reading } from '../../api/types'
import { Empty, Failed } from '../../components/notice'
import { Table } from '../../components/table'
import { useData } from '../../hooks/use-data'
import { dateTime, visible } from '../../lib/format'
import type { TabProps } from '../machine'

/** Sensors is the last reading of the machine's sensors, and the health of its parts. */
export function Sensors({ node }: TabProps) {
  const found = useData(
    (signal) =>
      get<Reading>(ferrite(node.uuid ?? '', '/sensors'), undefined, signal).catch((err: unknown) => {
        if (err instanceof Fault && err.status === 404) return err.message
        throw err
      }),
    [node.uuid],
  )
  if (found.data === undefined) return <Failed error={found.error} retry={found.reload} />
  if (typeof found.data === 'string') return <Empty>{visible(found.data)}</Empty>
  const { sensors, at, source, incomplete } = found.data
  return (
    <section aria-label="Sensors">
      <p className="muted">
        Read {dateTime(at)} by {visible(source)}.{' '}
        <button type="button" onClick={found.reload}>
          Refresh
        </button>
      </p>
      {(incomplete ?? []).map((text) => (
        <p key={text} className="notice notice-info">
          {visible(text)}
        </p>
      ))}
      <Table
        label="Sensors"
        rows={sensors}
        id={(s, i) => `${s.group}/${s.id ?? s.name}/${i}`}
        columns={[
          { label: 'Group', wide: true, of: (s) => visible(s.group) },
          { label: 'Sensor', of: (s) => visible(s.name) },
          { label: 'Reading', number: true, of: (s) => (s.reading === null ? '' : `${s.reading} ${visible(s.unit ?? '')}`) },
          { label: 'State', of: (s) => [s.state, s.health].filter((text): text is string => Boolean(text)).map(visible).join(', ') },
          { label: 'Critical from', wide: true, number: true, of: (s) => (s.upper_critical === null || s.upper_critical === undefined ? '' : `${s.upper_critical} ${visible(s.unit ?? '')}`) },
        ]}
      />
    </section>
  )
}
