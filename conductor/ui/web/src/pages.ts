import { lazy, type ComponentType } from 'react'
import { RoomPage } from './pages/room'

const named = <K extends string>(load: () => Promise<Record<K, ComponentType>>, name: K) =>
  lazy(() => load().then((module) => ({ default: module[name] })))

/** pages are the pages, by the first word of their address. All but the room are loaded when they are opened. */
export const pages: Record<string, ComponentType> = {
  '': RoomPage,
  machines: named(() => import('./pages/machine'), 'MachinePage'),
  enroll: named(() => import('./pages/enroll'), 'EnrollPage'),
}

export interface Entry {
  page: string
  label: string
  /** rule is the rule of the policy without which the page would be empty. */
  rule: string
}

/** entries are the pages of the menu. */
export const entries: Entry[] = [{ page: '', label: 'Machines', rule: 'baremetal:node:list' }]
