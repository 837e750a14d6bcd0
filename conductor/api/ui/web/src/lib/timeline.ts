// One time line of a machine's life, out of what is kept of it in several places.
import type { Answer, Event, HistoryEntry, Status } from '../api/types'
import { plainState } from './classify'
import { bytes } from './format'

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
  /** seconds that it took; missing where that is not known. */
  seconds?: number
  /** of: a change of state, by an event; or the beginning or the end of an activity, by the history. */
  of?: 'move' | 'began' | 'done'
}

/** AuditLine is a line of the audit, as far as the time line shows it. */
export interface AuditLine {
  id: number
  entry: Record<string, unknown>
}

const who = (user?: string | null, project?: string | null): string => (user ? (project ? `${user} (${project})` : user) : '')

/** partOf is which end of an activity a text of the history is about: "deploy started", "deploy done in 12s". */
const partOf = (text: string): Partial<Entry> => (/ started$/.test(text) ? { of: 'began' } : / done\b/.test(text) ? { of: 'done' } : {})

/** ofEvent is what an event says, at most one entry for each of its parts. */
export function ofEvent(e: Event, index: number): Entry[] {
  const key = e.cursor ?? `${e.at}/${e.type}/${index}`
  const at = Date.parse(e.at)
  const by = who(e.user, e.project)
  const found: Entry[] = []
  const add = (group: Group, text: string, detail = '', more: Partial<Entry> = {}) => found.push({ key: `${key}/${found.length}`, at, group, text, detail, by, ...more })
  for (const move of e.moves ?? []) add(move.on === 'fail' ? 'error' : 'state', `${plainState(move.from)} → ${plainState(move.to)}`, move.on, { of: 'move' })
  if (e.power_change) add('power', `${e.power_change.from || 'unknown'} → ${e.power_change.to || 'unknown'}`)
  for (const note of e.notes ?? []) add(note.severity === 'ERROR' ? 'error' : 'state', note.text, note.activity ?? '', partOf(note.text))
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
    detail: [h.event_type, h.state].filter(Boolean).join(', '), by: who(h.user, h.project), ...(h.duration_seconds ? { seconds: h.duration_seconds } : {}), ...partOf(h.event ?? ''),
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
  const answer = c.error || (c.status ? String(c.status) : 'answered')
  return {
    key: `call/${c.id}`, at: Date.parse(c.at), group: 'call', text: `${c.protocol} ${c.name}: ${answer}`,
    detail: [c.server, c.effect && `for ${c.effect}`].filter(Boolean).join(', '), by: '', seconds: c.seconds,
  }
}

export type BootLine = Answer<'GET /ferrite/v1/boot/watch'>

/** services are what is before a request of the boot network; the words of TFTP say it themselves. */
const services: Record<string, string> = { dhcp: 'DHCP', 'proxy-dhcp': 'proxyDHCP', tftp: '', http: 'HTTP', 'other-dhcp': 'Another DHCP server:' }

/** stages are the boot stages that are known by an exchange on the boot network, and the exchange of each. */
const stages: Record<string, RegExp> = {
  'dhcp offer': /DHCP DISCOVER/, 'dhcp ack': /DHCP REQUEST/, 'tftp boot file': /^TFTP /, 'http boot file': /^HTTP GET /, 'ipxe script': /^HTTP GET script/,
  kernel: /^HTTP GET .*(kernel|linux)/, ramdisk: /^HTTP GET .*(ramdisk|initr)/,
}

/** ofBoot is an exchange on the boot network: what was asked, and the answer or the reason for none. */
export function ofBoot(line: BootLine): Entry[] {
  const e = line.event
  if (!e) return []
  const times = e.times > 1 ? `, ${e.times} times` : ''
  const asked = e.asked.replace(/ OS$/, ' of the running system')
  return [{
    key: `network/${e.id}`, at: Date.parse(e.at), group: 'network', text: `${[services[e.service], asked].filter(Boolean).join(' ')}${times}`,
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

/**
 * merge puts entries in order, the newest first, each once: an error of the history is often that of an event, too. A change of
 * state has the duration and the user of the history's entry about it; an exchange on the boot network is its boot stage, too.
 */
export function merge(...lists: Entry[][]): Entry[] {
  const kept: Entry[] = []
  const seen = new Set<string>()
  for (const entry of lists.flat()) {
    if (Number.isNaN(entry.at)) continue
    const same = `${entry.group}/${entry.text}/${Math.round(entry.at / 2000)}`
    const near = `${entry.group}/${entry.text}/${Math.round(entry.at / 2000) - 1}`
    if (seen.has(entry.key) || (!repeated.has(entry.group) && (seen.has(same) || seen.has(near)))) {
      const twin = kept.find((e) => e.group === entry.group && e.text === entry.text && Math.abs(e.at - entry.at) < 4000)
      if (twin && entry.seconds !== undefined) twin.seconds ??= entry.seconds
      if (twin) twin.by ||= entry.by
      continue
    }
    seen.add(entry.key)
    seen.add(same)
    kept.push({ ...entry })
  }
  const merged = (e: Entry) => {
    if (e.of !== 'began' && e.of !== 'done') return false
    const far = (m: Entry) => Math.abs(m.at - e.at)
    const [move] = kept.filter((m) => m.of === 'move' && (m.detail === 'done') === (e.of === 'done') && far(m) < 1500).sort((x, y) => far(x) - far(y))
    if (move && e.seconds !== undefined) move.seconds ??= e.seconds
    if (move) move.by ||= e.by
    return move !== undefined
  }
  const network = kept.filter((e) => e.group === 'network')
  const twice = (e: Entry) => e.group === 'boot' && network.some((n) => Math.abs(n.at - e.at) < 5000 && stages[e.text]?.test(n.text))
  return kept.filter((e) => !twice(e) && !merged(e)).sort((a, b) => a.at - b.at).reverse()
}

/** share is how long a bar is beside the longest one, in percent; roots keep short ones in sight. */
export const share = (seconds: number, longest: number): number => (longest > 0 ? Math.max(1, Math.round(100 * Math.sqrt(seconds / longest))) : 0)
