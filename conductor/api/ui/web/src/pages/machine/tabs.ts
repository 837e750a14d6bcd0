import { lazy, type ComponentType } from 'react'
import { session } from '../../api/session'
import type { Node } from '../../api/types'
import type { TabProps } from '../machine'
import { Bios } from './bios'
import { Disks } from './disks'
import { Fields } from './fields'
import { Firmware } from './firmware'
import { Log } from './log'
import { Network } from './network'
import { Now } from './now'
import { Reports } from './reports'
import { Sensors } from './sensors'
import { TimeLine } from './timeline'

export interface Tab {
  id: string
  label: string
  Part: ComponentType<TabProps>
  when: (node: Node) => boolean
}

const rule = (name: string) => (n: Node) => session.may(name, n.owner ?? '', n.lessee ?? '')

/** tabs are the parts of a machine's page. */
export const tabs: Tab[] = [
  { id: 'now', label: 'Now', Part: Now, when: () => true },
  { id: 'timeline', label: 'Time line', Part: TimeLine, when: rule('baremetal:node:history:get') },
  { id: 'log', label: 'Log', Part: Log, when: rule('baremetal:node:history:get') },
  {
    id: 'console', label: 'Console', Part: lazy(() => import('./console').then((m) => ({ default: m.Console }))),
    when: rule('baremetal:node:set_console_state'),
  },
  { id: 'disks', label: 'Disks', Part: Disks, when: rule('baremetal:node:inventory:get') },
  { id: 'network', label: 'Network', Part: Network, when: rule('baremetal:port:list') },
  { id: 'firmware', label: 'Firmware', Part: Firmware, when: rule('baremetal:node:firmware:get') },
  { id: 'bios', label: 'BIOS', Part: Bios, when: rule('baremetal:node:bios:get') },
  { id: 'sensors', label: 'Sensors', Part: Sensors, when: () => true },
  { id: 'reports', label: 'Erase reports', Part: Reports, when: rule('ferrite:erase_report:get') },
  { id: 'fields', label: 'All fields', Part: Fields, when: () => true },
]
