import { lazy, type ComponentType } from 'react'
import { rules } from './api/hosts'
import { MachinesPage } from './pages/machines'

const named = <K extends string>(load: () => Promise<Record<K, ComponentType>>, name: K) =>
  lazy(() => load().then((module) => ({ default: module[name] })))

const records = named(() => import('./pages/records'), 'RecordsPage')

/** words are how many there may be behind the first one of a page's address: none, where there is no row. */
const words: Record<string, number[]> = { machines: [1], hosts: [0, 2] }

/** pageOf is the page of an address; undefined where there is none. */
export function pageOf({ page, rest }: { page: string; rest: string[] }): ComponentType | undefined {
  return Object.hasOwn(pages, page) && (words[page] ?? [0]).includes(rest.length) ? pages[page] : undefined
}

/** pages are the pages, by the first word of their address. All but the machines are loaded when they are opened. */
export const pages: Record<string, ComponentType> = {
  '': MachinesPage,
  machines: named(() => import('./pages/machine'), 'MachinePage'),
  enroll: named(() => import('./pages/enroll'), 'EnrollPage'),
  discovered: named(() => import('./pages/discovered'), 'DiscoveredPage'),
  hosts: named(() => import('./pages/hosts'), 'HostsPage'),
  images: named(() => import('./pages/images'), 'ImagesPage'),
  allocations: records,
  runbooks: records,
  templates: records,
  'inspection-rules': records,
  leases: named(() => import('./pages/leases'), 'LeasesPage'),
  'erase-reports': named(() => import('./pages/erase-reports'), 'EraseReportsPage'),
  conductors: named(() => import('./pages/conductors'), 'ConductorsPage'),
  users: named(() => import('./pages/users'), 'UsersPage'),
  audit: named(() => import('./pages/audit'), 'AuditPage'),
}

export interface Entry {
  page: string
  label: string
  /** rule is the rule of the policy without which the page would be empty. */
  rule: string
}

/** entries are the pages of the menu. */
export const entries: Entry[] = [
  { page: '', label: 'Machines', rule: 'baremetal:node:list' },
  { page: 'discovered', label: 'Discovered', rule: 'baremetal:node:list' },
  { page: 'hosts', label: 'Hosts', rule: rules.read },
  { page: 'images', label: 'Images', rule: 'ferrite:image:list' },
  { page: 'allocations', label: 'Allocations', rule: 'baremetal:allocation:list' },
  { page: 'runbooks', label: 'Runbooks', rule: 'baremetal:runbook:list' },
  { page: 'templates', label: 'Deploy templates', rule: 'baremetal:deploy_template:get' },
  { page: 'inspection-rules', label: 'Inspection rules', rule: 'baremetal:inspection_rule:get' },
  { page: 'leases', label: 'Leases', rule: 'ferrite:lease:get' },
  { page: 'erase-reports', label: 'Erase reports', rule: 'ferrite:erase_report:list' },
  { page: 'conductors', label: 'Conductors', rule: 'baremetal:conductor:get' },
  { page: 'users', label: 'Users', rule: 'ferrite:user:list' },
  { page: 'audit', label: 'Audit', rule: 'ferrite:audit:list' },
]
