// A machine of the list, out of what the API and its events say.
import type { Event, Node } from './types'
import { haystack } from '../lib/filter'
import type { Machine } from '../lib/classify'

/** Row is a machine, and its texts in small letters. */
export interface Row extends Machine {
  texts: string
}

export function fromNode(n: Node): Row {
  return withTexts({
    uuid: n.uuid ?? '', name: n.name ?? '', state: n.provision_state ?? 'available', target: n.target_provision_state ?? '',
    power: n.power_state ?? '', maintenance: n.maintenance ?? false, reason: n.maintenance_reason ?? '', fault: n.fault ?? '',
    error: n.last_error ?? '', class: n.resource_class ?? '', driver: n.driver ?? '', group: n.conductor_group ?? '',
    owner: n.owner ?? '', health: n.health ?? '', retired: n.retired ?? false,
    since: n.provision_updated_at ? Date.parse(n.provision_updated_at) : 0, step: '', progress: null, stage: '',
  })
}

const empty: Machine = {
  uuid: '', name: '', state: '', target: '', power: '', maintenance: false, reason: '', fault: '', error: '', class: '',
  driver: '', group: '', owner: '', health: '', retired: false, since: 0, step: '', progress: null, stage: '',
}

/** apply is a row after an event; null when the event says too little to make one. */
export function apply(before: Row | undefined, event: Event): Row | null {
  const node = event.node
  if (!node) return null
  if (!event.cursor) { // of the moment: how far a boot or a step is
    if (!before) return null
    const p = event.progress
    if (p) return { ...before, progress: { step: p.step, done: p.done, total: p.total, at: Date.parse(event.at) } }
    return event.stage ? { ...before, stage: event.stage.name } : before
  }
  const moved = (event.moves ?? []).length > 0
  const state = node.provision_state ?? before?.state ?? ''
  return withTexts({
    ...(before ?? empty),
    uuid: node.uuid, name: node.name ?? '', state, target: node.target_provision_state ?? '', power: node.power_state ?? '',
    maintenance: node.maintenance, reason: node.maintenance ? (before?.reason ?? '') : '', fault: node.fault ?? '',
    error: node.last_error ?? '', class: node.resource_class ?? '', driver: node.driver ?? '',
    group: node.conductor_group ?? '', step: node.step ?? '',
    since: moved || !before ? Date.parse(event.at) : before.since,
    progress: moved ? null : (before?.progress ?? null), stage: moved ? '' : (before?.stage ?? ''),
  })
}

const withTexts = (m: Machine): Row => ({ ...m, texts: haystack(m) })
