// All machines of the conductor, kept current by its events.
import { errorText } from './fault'
import type { Event, Node } from './types'
import { pages } from './client'
import { stream } from './stream'
import { Store } from '../lib/store'
import { apply, fromNode, type Row } from './row'

const fields = [
  'uuid', 'name', 'provision_state', 'target_provision_state', 'power_state', 'maintenance', 'maintenance_reason', 'fault',
  'last_error', 'resource_class', 'driver', 'conductor_group', 'provision_updated_at', 'owner', 'health', 'retired',
].join(',')

export interface MachineStoreState {
  /** version changes with every change of the rows. */
  version: number
  /** loading: pages are still to come. */
  loading: boolean
  error: string
}

/** quiet is how long changes are collected before they are shown, in milliseconds. */
const quiet = 100

/** firstPage is enough for a window. */
const firstPage = 150

class MachineStore extends Store<MachineStoreState> {
  readonly rows = new Map<string, Row>()
  private changedByEvent = new Set<string>() // by events while pages are read: an event is newer than a page
  private begun = false
  private timer = 0
  private reading: AbortController | null = null

  /** begin reads the machines, once, and follows their events from then on. */
  begin(): void {
    if (this.begun) return
    this.begun = true
    stream.follow(
      (events) => this.take(events),
      () => void this.read(),
    )
    void this.read()
  }

  async read(): Promise<void> {
    this.reading?.abort()
    const reading = new AbortController()
    this.reading = reading
    this.changedByEvent = new Set()
    const seen = new Set<string>()
    this.set({ loading: true, error: '' })
    try {
      for await (const page of pages<Node>('/v1/nodes', 'nodes', { fields }, reading.signal, firstPage)) {
        for (const node of page) {
          const row = fromNode(node)
          seen.add(row.uuid)
          if (!this.changedByEvent.has(row.uuid)) this.rows.set(row.uuid, row)
        }
        this.changed()
      }
      for (const uuid of this.rows.keys()) if (!seen.has(uuid) && !this.changedByEvent.has(uuid)) this.rows.delete(uuid)
      this.set({ loading: false })
    } catch (err) {
      if (reading.signal.aborted) return
      this.set({ loading: false, error: errorText(err) })
    }
    this.changed()
  }

  private take(events: Event[]): void {
    let changed = false
    for (const event of events) {
      const uuid = event.node?.uuid
      if (!uuid) continue
      changed = true
      if (event.type === 'node.deleted') {
        this.rows.delete(uuid)
        this.changedByEvent.add(uuid)
        continue
      }
      const next = apply(this.rows.get(uuid), event)
      if (next) this.rows.set(uuid, next)
      if (event.cursor) this.changedByEvent.add(uuid)
    }
    if (changed) this.changed()
  }

  private changed(): void {
    if (this.timer) return
    this.timer = window.setTimeout(() => {
      this.timer = 0
      this.set({ version: this.get().version + 1 })
    }, quiet)
  }
}

export const machineStore = new MachineStore({ version: 0, loading: true, error: '' })
