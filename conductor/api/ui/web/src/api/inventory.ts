// The inventory, as far as the interface shows it. Agents tell more, and may tell less.
import type { Answer, Inventory } from './types'
import { get, path } from './client'
import { Fault } from './fault'

export interface Disk {
  name: string
  model?: string
  size: number
  rotational?: boolean
  serial?: string
  wwn?: string
  tran?: string
  by_path?: string
}

export interface Interface {
  name: string
  mac_address: string
  ipv4_address?: string
  ipv6_address?: string
  has_carrier?: boolean
  speed_mbps?: number
  vendor?: string
  product?: string
  driver?: string
}

export interface Hardware {
  disks: Disk[]
  interfaces: Interface[]
  /** lldp is what switches say of themselves, by interface. */
  lldp: Record<string, Record<string, unknown>>
  plugin: Record<string, unknown>
}

/** readInventory is null before the first inspection. */
export async function readInventory(uuid: string, signal: AbortSignal): Promise<Hardware | null> {
  try {
    const found = await get<Inventory>(path('/v1/nodes/{node}/inventory', uuid), undefined, signal)
    const plugin = (found.plugin_data ?? {}) as Record<string, unknown>
    return {
      disks: list<Disk>(found.inventory?.['disks']), interfaces: list<Interface>(found.inventory?.['interfaces']),
      lldp: record(plugin['parsed_lldp']), plugin,
    }
  } catch (err) {
    if (err instanceof Fault && err.status === 404) return null
    throw err
  }
}

const list = <T>(value: unknown): T[] => (Array.isArray(value) ? (value as T[]) : [])

function record(value: unknown): Record<string, Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, Record<string, unknown>>) : {}
}

export type Bios = Answer<'GET /v1/nodes/{node}/bios'>['bios']
export type Components = Answer<'GET /v1/nodes/{node}/firmware'>['firmware']
