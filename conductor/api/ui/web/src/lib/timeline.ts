// One time line of a machine's life, out of what is kept of it in several places.
import type { Answer, Event, HistoryEntry, Status } from '../api/types'
import { plainState } from './classify'
import { bytes, duration } from './format'

export type Group = 'request' | 'state' | 'power' | 'call' | 'network' | 'boot' | 'step' | 'error' | 'change' | 'log'

export const groups: { group: Group; label: string; one: string }[] = [
  { group: 'state', label: 'States', one: 'state' },
  { group: 'request', label: 'Requests', one: 'request' },
  { group: 'power', label: 'Power', one: 'power' },
  { group: 'call', label: 'BMC and agent calls', one: 'call' },
  { group: 'network', label: 'DHCP and boot files', one: 'network' },
  { group: 'boot', label: 'Boot', one: 'boot' },
  { group: 'step', label: 'Steps', one: 'step' },
  { group: 'error', label: 'Errors', one: 'error' },
  { group: 'change', label: 'Changes', one: 'change' },
  { group: 'log', label: 'Log', one: 'log' },
]

export interface Entry {
  key: string
  at: number
  group: Group
  text: string
  detail: string
  by: string
}

/** AuditLine is a line of the audit, as far as the time line shows it. */
export interface AuditLine {
  id: number
  entry: Record<string, unknown>
}

const who = (user?: string | null, project?: string | null): string => (user ? (project ? `${user} (${project})` : user) : '')

/** ofEvent is what an event says, at most one entry for each of its parts. */
export function ofEvent(e: Event, index: number): Entry[] {
  const key = e.cursor ?? `${e.at}/${e.type}/${index}`
  const at = Date.parse(e.at)
  const by = who(e.user, e.project)
  const found: Entry[] = []
  const add = (group: Group, text: string, detail = '') => found.push({ key: `${key}/${found.length}`, at, group, text, detail, by })
  for (const move of e.moves ?? []) add(move.on === 'fail' ? 'error' : 'state', `${plainState(move.from)} → ${plainState(move.to)}`, move.on)
  if (e.power_change) add('power', `${e.power_change.from || 'unknown'} → ${e.power_change.to || 'unknown'}`)
  for (const note of e.notes ?? []) add(note.severity === 'ERROR' ? 'error' : 'state', note.text, note.activity ?? '')
  if (e.stage) add('boot', e.stage.name, e.stage.detail ?? '')
  if (e.progress) {
    const p = e.progress
    add('step', `${p.step}${p.stage ? `, ${p.stage}` : ''}: ${bytes(p.done)}${p.total > 0 ? ` of ${bytes(p.total)}` : ''}`)
  }
  if (found.length > 0) return found
  switch (e.type) {
    case 'node.created':
    case 'node.deleted':
      add('change', e.type === 'node.created' ? 'enrolled' : 'deleted')
      break
    case 'node.maintenance':
      add('change', e.node?.maintenance ? 'taken out of service' : 'back in service', e.node?.fault ?? '')
      break
    default: {
      const step = e.node?.step
      const changed = e.changed ?? []
      if (step && changed.some((field) => field.endsWith('_step'))) add('step', step)
      else if (changed.length > 0) add('change', `changed: ${changed.join(', ')}`)
      else if (e.ports) add('change', `ports: ${[...new Set(Object.values(e.ports))].join(', ')}`)
      else if (e.type !== 'node.updated') add('change', e.type) // that an update changed nothing to see is no news
    }
  }
  return found
}

/** ofHistory is an entry of the node's history, which is kept longer than events. */
export function ofHistory(h: HistoryEntry): Entry {
  const error = h.severity === 'ERROR'
  return {
    key: h.uuid, at: Date.parse(h.created_at ?? ''), group: error ? 'error' : 'state', text: h.event ?? '',
    detail: [h.event_type, h.state].filter(Boolean).join(', '), by: who(h.user, h.project),
  }
}

/** ofStages are the stages of the boot that is under way. */
export function ofStages(status: Status | undefined): Entry[] {
  return (status?.boot_stages ?? []).map((s) => ({
    key: `stage/${s.at}/${s.name}`, at: Date.parse(s.at), group: 'boot' as const, text: s.name, detail: s.detail ?? '', by: '',
  }))
}

/** ofAudit is a request, as the audit has it. */
export function ofAudit(line: AuditLine): Entry {
  const e = line.entry
  const text = (key: string) => (e[key] === undefined || e[key] === null ? '' : String(e[key]))
  return {
    key: `audit/${line.id}`, at: Date.parse(text('at') || text('time')), group: 'request',
    text: `${text('method')} ${text('path')} ${text('status')}`.trim(), detail: text('address') || text('from'), by: text('user'),
  }
}

export type Call = Answer<'GET /ferrite/v1/nodes/{node}/calls'>['calls'][number]

/** ofCall is a request to the BMC or the agent. */
export function ofCall(c: Call): Entry {
  const took = c.seconds < 1 ? `${Math.round(c.seconds * 1000)} ms` : duration(c.seconds)
  const answer = c.error || (c.status ? String(c.status) : 'answered')
  return {
    key: `call/${c.id}`, at: Date.parse(c.at), group: 'call', text: `${c.protocol} ${c.name}: ${answer}`,
    detail: [c.server, took, c.effect && `for ${c.effect}`].filter(Boolean).join(', '), by: '',
  }
}

export type BootLine = Answer<'GET /ferrite/v1/boot/watch'>

/** ofBoot is an exchange on the boot network: what was asked, and the answer or the reason for none. */
export function ofBoot(line: BootLine): Entry[] {
  const e = line.event
  if (!e) return []
  const times = e.times > 1 ? `, ${e.times} times` : ''
  return [{
    key: `network/${e.id}`, at: Date.parse(e.at), group: 'network', text: `${e.service}: ${e.asked}${times}`,
    detail: [e.answer || e.why || e.reason, e.ip, e.detail, e.try && `Next: ${e.try}`].filter(Boolean).join(', '), by: '',
  }]
}

const logged = /^(\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d))\s+(.*)$/

/** ofLog are the lines of a log that begin with a time; the others go with the one before them. */
export function ofLog(text: string): Entry[] {
  const found: Entry[] = []
  for (const [i, line] of text.split('\n').entries()) {
    const match = logged.exec(line)
    const last = found.at(-1)
    if (match) found.push({ key: `log/${i}`, at: Date.parse(match[1]!), group: 'log', text: match[2]!, detail: '', by: '' })
    else if (last && line !== '' && last.text.length < 2000) last.text += `\n${line}`
  }
  return found
}

/** repeated are groups in which the same text twice is two entries. */
const repeated = new Set<Group>(['log', 'call', 'network'])

/** merge puts entries in order, the newest first, each once: an error of the history is often that of an event, too. */
export function merge(...lists: Entry[][]): Entry[] {
  const kept: Entry[] = []
  const seen = new Set<string>()
  for (const entry of lists.flat()) {
    if (Number.isNaN(entry.at)) continue
    const same = `${entry.group}/${entry.text}/${Math.round(entry.at / 2000)}`
    const near = `${entry.group}/${entry.text}/${Math.round(entry.at / 2000) - 1}`
    if (seen.has(entry.key) || (!repeated.has(entry.group) && (seen.has(same) || seen.has(near)))) continue
    seen.add(entry.key)
    seen.add(same)
    kept.push(entry)
  }
  return kept.sort((a, b) => a.at - b.at).reverse()
}
