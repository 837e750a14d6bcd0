import { useEffect, useMemo, useRef, useState } from 'react'
import { all, auditLines, get, path, send } from '../../api/client'
import { errorText } from '../../api/fault'
import { ferrite } from '../../api/machine'
import { session } from '../../api/session'
import type { Event, HistoryEntry, Node } from '../../api/types'
import { Empty, Failed } from '../../components/notice'
import { useData } from '../../hooks/use-data'
import { useEvents } from '../../hooks/use-events'
import { setQuery, useRoute } from '../../hooks/use-route'
import { dateOf, duration, shortDuration, timeOfDay, visible } from '../../lib/format'
import { groups, merge, share, ofAudit, ofBoot, ofCall, ofEvent, ofHistory, ofLog, ofStages, type AuditLine, type BootLine, type Call, type Entry, type Group } from '../../lib/timeline'
import type { TabProps } from '../machine'

/** most entries that are shown at once. */
const page = 300

/** TimeLine is the machine's life out of history, events, calls, boot network, boot stages, log and audit. */
export function TimeLine({ node, status }: TabProps) {
  const uuid = node.uuid ?? ''
  const kept = useData((signal) => read(uuid, session.may('ferrite:audit:list'), signal), [uuid])
  const exchanges = useData((signal) => readExchanges(uuid, node, signal), [uuid])
  const later = useRef(0)
  useEffect(() => () => clearTimeout(later.current), [])
  const [live, setLive] = useState<Event[]>([])
  useEvents(
    (events) => {
      const ours = events.filter((e) => e.node?.uuid === uuid)
      if (ours.length === 0) return
      setLive((before) => [...before, ...ours].slice(-2000))
      later.current ||= window.setTimeout(() => {
        later.current = 0
        exchanges.reload()
      }, 1000)
    },
    () => kept.reload(),
  )
  const entries = useMemo(
    () => merge(live.flatMap(ofEvent), kept.data?.entries ?? [], exchanges.data ?? [], ofStages(status)),
    [live, kept.data, exchanges.data, status],
  )
  const { query } = useRoute()
  const hidden = new Set((query.get('without') ?? '').split(',').filter(Boolean))
  const words = query.get('find') ?? ''
  const [most, setMost] = useState(page)
  const shown = entries.filter((e) => !hidden.has(e.group) && (words === '' || `${e.text} ${e.detail} ${e.by}`.toLowerCase().includes(words.toLowerCase())))
  const longest = Math.max(0, ...shown.slice(0, most).map((e) => e.seconds ?? 0))
  const toggle = (group: Group) => {
    const next = new Set(hidden)
    if (!next.delete(group)) next.add(group)
    setQuery({ without: [...next].join(',') })
  }
  return (
    <section aria-label="Time line">
      <div className="chips" role="group" aria-label="Kinds of entries">
        {groups
          .filter(({ group }) => hidden.has(group) || entries.some((e) => e.group === group))
          .map(({ group, label }) => (
            <button key={group} type="button" className="chip" aria-pressed={!hidden.has(group)} onClick={() => toggle(group)}>
              {label} <b>{entries.filter((e) => e.group === group).length}</b>
            </button>
          ))}
        <label className="find">
          <span className="visually-hidden">Find in the time line</span>
          <input type="search" placeholder="Find" value={words} onChange={(e) => setQuery({ find: e.target.value })} />
        </label>
      </div>
      <Failed error={kept.error} retry={kept.reload} />
      {(kept.data?.missing ?? []).map((text) => (
        <p key={text} className="muted">
          {visible(text)}
        </p>
      ))}
      {shown.length === 0 && !kept.loading && <Empty>No entry matches the filter.</Empty>}
      <ol className="timeline">
        {shown.slice(0, most).map((entry, i) => (
          <Line key={entry.key} entry={entry} first={i === 0 || dateOf(shown[i - 1]!.at) !== dateOf(entry.at)} after={shown[i + 1]?.at} longest={longest} />
        ))}
      </ol>
      {shown.length > most && (
        <button type="button" onClick={() => setMost(most + page)}>
          Show older ones ({shown.length - most})
        </button>
      )}
    </section>
  )
}

const names = Object.fromEntries(groups.map(({ group, one }) => [group, one]))

/** gap is how long after the entry before it something was; short ones within the same second say nothing. */
const gap = (at: number, before: number | undefined): string => (before === undefined || at - before < 1000 ? '' : `+${shortDuration((at - before) / 1000)}`)

const took = (seconds: number): string => (seconds < 0.001 ? '< 1 ms' : seconds < 1 ? `${Math.round(seconds * 1000)} ms` : duration(seconds))

const Line = ({ entry, first, after, longest }: { entry: Entry; first: boolean; after: number | undefined; longest: number }) => (
  <li className={`entry entry-${entry.group}`}>
    {first && <span className="day">{dateOf(entry.at)}</span>}
    <time dateTime={new Date(entry.at).toISOString()}>{timeOfDay(entry.at)}</time>
    <span className="gap" title="after the entry before it">{gap(entry.at, after)}</span>
    <span className="group">{names[entry.group]}</span>
    <span className="text">
      {visible(entry.text)} {entry.detail !== '' && <span className="muted">{visible(entry.detail)}</span>}
    </span>
    {entry.by !== '' && <span className="by">by {visible(entry.by)}</span>}
    {entry.seconds !== undefined && (
      <span className="took">
        <span className="bar" style={{ width: `${share(entry.seconds, longest)}%` }} aria-hidden="true" />
        {took(entry.seconds)}
      </span>
    )}
  </li>
)

/** readExchanges reads what comes without events: calls to BMC and agent, and the boot network, where there is one. */
async function readExchanges(uuid: string, node: Node, signal: AbortSignal): Promise<Entry[]> {
  const none = (err: unknown): Entry[] => {
    if (signal.aborted) throw err
    return [] // the conductor that has them may be another, or may serve no boot network
  }
  const lists = await Promise.all([
    session.may('ferrite:call:list', node.owner ?? '', node.lessee ?? '') ? get<{ calls: Call[] }>(ferrite(uuid, '/calls'), undefined, signal).then((found) => found.calls.map(ofCall), none) : [],
    session.may('ferrite:boot:watch')
      ? send('GET', '/ferrite/v1/boot/watch', { query: { node: uuid, since: '24h' }, signal, headers: { Accept: 'application/x-ndjson' } })
          .then((answer) => answer.text())
          .then((text) => text.split('\n').filter((line) => line !== '').flatMap((line) => ofBoot(JSON.parse(line) as BootLine)), none)
      : [],
  ])
  return lists.flat()
}

/** read reads all that is kept; missing says what could not be read. */
async function read(uuid: string, audit: boolean, signal: AbortSignal): Promise<{ entries: Entry[]; missing: string[] }> {
  const missing: string[] = []
  const part = (what: string, entries: Promise<Entry[]>): Promise<Entry[]> =>
    entries.catch((err: unknown) => {
      if (signal.aborted) throw err
      missing.push(`${what}: ${errorText(err)}`)
      return []
    })
  const lines = async <T,>(to: string, query: Record<string, string>): Promise<T[]> => {
    const text = await (await send('GET', to, { query, signal, headers: { Accept: 'application/x-ndjson' } })).text()
    return text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as T)
  }
  const lists = await Promise.all([
    part('Events', lines<Event>('/ferrite/v1/events', { node: uuid, after: '0', wait: '0' }).then((events) => events.flatMap(ofEvent))),
    part(
      'History',
      all<HistoryEntry>(path('/v1/nodes/{node}/history', uuid), 'history', { detail: 'true' }, signal).then((h) => h.map(ofHistory)),
    ),
    part(
      'Log',
      send('GET', ferrite(uuid, '/logs'), { query: { tail: '2000' }, signal, headers: { Accept: 'text/plain' } })
        .then((answer) => answer.text())
        .then(ofLog, () => []), // there is none before the first boot
    ),
    audit ? part('Audit', auditLines<AuditLine>(1000, signal, uuid).then((found) => found.map(ofAudit))) : Promise.resolve([]),
  ])
  return { entries: lists.flat(), missing }
}
