import { all, path } from '../../api/client'
import { readInventory } from '../../api/inventory'
import type { Port } from '../../api/types'
import { Empty, Failed } from '../../components/notice'
import { Table } from '../../components/table'
import { useData } from '../../hooks/use-data'
import { asText, visible } from '../../lib/format'
import type { TabProps } from '../machine'

/** neighbour is the switch and port at the other end of a link. */
function neighbour(lldp: Record<string, unknown> | undefined, link: Record<string, unknown> | null | undefined): string {
  const one = (...names: string[]) => {
    for (const name of names) {
      const value = lldp?.[name] ?? link?.[name]
      if (value !== undefined && value !== null && value !== '') return asText(value)
    }
    return ''
  }
  return [one('switch_system_name', 'switch_info', 'switch_chassis_id', 'switch_id'), one('switch_port_id', 'port_id', 'switch_port_description')]
    .filter(Boolean)
    .join(', port ')
}

/** Network is the ports of the node, the interfaces that inspection found, and the switches they are linked to. */
export function Network({ node }: TabProps) {
  const uuid = node.uuid ?? ''
  const ports = useData((signal) => all<Port>(path('/v1/nodes/{node}/ports/detail', uuid), 'ports', {}, signal), [uuid, node.updated_at])
  const hardware = useData((signal) => readInventory(uuid, signal).catch(() => null), [uuid, node.inspection_finished_at])
  const found = new Map((hardware.data?.interfaces ?? []).map((i) => [i.mac_address.toLowerCase(), i]))
  const known = new Set((ports.data ?? []).map((p) => (p.address ?? '').toLowerCase()))
  const others = (hardware.data?.interfaces ?? []).filter((i) => !known.has(i.mac_address.toLowerCase()))
  return (
    <section aria-label="Network">
      <Failed error={ports.error} retry={ports.reload} />
      <h2>Ports</h2>
      {ports.data && ports.data.length === 0 && <Empty>The node has no ports. Inspection makes them; a machine without ports cannot be told apart in the boot network.</Empty>}
      {ports.data && ports.data.length > 0 && (
        <Table
          label="Ports"
          rows={ports.data}
          id={(p) => p.uuid ?? ''}
          columns={[
            { label: 'MAC address', of: (p) => <code>{asText(p.address)}</code> },
            { label: 'Interface', of: (p) => asText(found.get((p.address ?? '').toLowerCase())?.name ?? p.name) },
            { label: 'Boots', of: (p) => (p.pxe_enabled ? 'yes' : 'no') },
            { label: 'Link', of: (p) => link(found.get((p.address ?? '').toLowerCase())) },
            {
              label: 'Switch',
              of: (p) => neighbour(hardware.data?.lldp[found.get((p.address ?? '').toLowerCase())?.name ?? ''], p.local_link_connection),
            },
            { label: 'Address', wide: true, of: (p) => asText(found.get((p.address ?? '').toLowerCase())?.ipv4_address) },
            { label: 'Physical network', wide: true, of: (p) => asText(p.physical_network) },
          ]}
        />
      )}
      {others.length > 0 && (
        <>
          <h2>Interfaces without a port</h2>
          <Table
            label="Interfaces without a port"
            rows={others}
            id={(i) => i.mac_address}
            columns={[
              { label: 'MAC address', of: (i) => <code>{asText(i.mac_address)}</code> },
              { label: 'Interface', of: (i) => asText(i.name) },
              { label: 'Link', of: (i) => link(i) },
              { label: 'Switch', of: (i) => neighbour(hardware.data?.lldp[i.name], undefined) },
              { label: 'Card', wide: true, of: (i) => visible([i.vendor, i.product, i.driver].filter(Boolean).join(' ')) },
            ]}
          />
        </>
      )}
    </section>
  )
}

function link(i: { has_carrier?: boolean; speed_mbps?: number } | undefined): string {
  if (!i || i.has_carrier === undefined) return ''
  if (!i.has_carrier) return 'no link'
  return i.speed_mbps ? `${i.speed_mbps >= 1000 ? `${i.speed_mbps / 1000} Gbit/s` : `${i.speed_mbps} Mbit/s`}` : 'link'
}
